// Questions asked before that are nearest to one, with what their answers cite and is still there, and the pairs of their best chain. $embedding, $k; $limited: also those whose answers could not come from every passage.
// `source_*` is of the question whose answer was taken, where it was. A passage of a document that is not ready is left out, so that fewer than `cited` are there.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for. Runs once an ask that may use the question cache.
CALL db.index.vector.queryNodes('question_embedding', $k + 50, $embedding) YIELD node AS q, score
WITH q, score
WHERE $limited OR q.limited IS NULL
ORDER BY score DESC, q.id
LIMIT $k
CALL (q) {
  MATCH (q)-[u:USED]->(p:Passage)-[:PART_OF]->(d:Document)
  WHERE u.cited AND d.status = 'ready'
  RETURN collect({id: p.id, title: CASE p.title WHEN '' THEN d.title ELSE p.title END, text: p.text, source: d.source, document: d.id, rank: u.rank, score: u.score, quote: u.quote}) AS passages
}
CALL (q) {
  MATCH (q)-[u:USED]->(x:QAPair)-[:IN]->(p:Passage)
  WHERE u.rank = 1
  RETURN collect({id: x.id, question: x.question, answers: x.answers, passage: p.id, hop: u.hop}) AS pairs
}
OPTIONAL MATCH (q)-[:REUSED]->(s:Question)
RETURN q.id AS id, q.question AS question, q.answer AS answer, q.answer_source IN ['cache', 'past'] AS from_cache, q.verdict AS verdict, q.asked_at AS asked_at, q.strategy AS strategy, q.model AS model,
  q.plan AS plan, q.confidence AS confidence, coalesce(q.inferred, false) AS inferred, coalesce(q.cited, 0) AS cited, score, passages, pairs,
  s.id AS source_id, s.question AS source_question, s.verdict AS source_verdict, s.asked_at AS source_asked_at
ORDER BY score DESC, id
