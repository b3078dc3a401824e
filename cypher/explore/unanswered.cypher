// Questions without an answer, the latest first, with the nearest passages.
// `abstained`: the answer is "not in memory"; else no model and no chain gave one.
MATCH (q:Question)
WHERE q.abstained OR q.answer IS NULL
WITH q ORDER BY q.asked_at DESC
LIMIT 50
OPTIONAL MATCH (q)-[used:USED]->(p:Passage)
WITH q, p, used ORDER BY used.rank
RETURN replace(left(q.asked_at, 16), 'T', ' ') AS asked, q.question AS question, q.abstained AS abstained, q.strategy AS strategy, collect(p.title)[..3] AS nearest
ORDER BY asked DESC, question
LIMIT 50
