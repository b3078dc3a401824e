// What was asked lately, what was answered, and the pairs and passages that the answers used.
MATCH (q:Question)
WITH q ORDER BY q.asked_at DESC
LIMIT 25
OPTIONAL MATCH path = (q)-[used:USED]->(x)
RETURN replace(left(q.asked_at, 16), 'T', ' ') AS asked, q.question AS question, q.answer AS answer, round(q.confidence, 2) AS confidence, q.strategy AS strategy,
  count(CASE WHEN x:QAPair THEN 1 END) AS pairs, count(CASE WHEN x:Passage THEN 1 END) AS passages, count(CASE WHEN used.cited THEN 1 END) AS cited
  , collect(path) AS drawing
ORDER BY asked DESC, question
LIMIT 25
