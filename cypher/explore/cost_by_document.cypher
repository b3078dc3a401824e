// What questions took, by document: tokens and dollars, shared out among the passages of an answer.
// What reading the documents took is in the ledger (gswgraph ledger), not in the graph.
MATCH (q:Question)-[:USED]->(p:Passage)
WITH q, collect(p) AS used
UNWIND used AS p
MATCH (p)-[:PART_OF]->(d:Document)
RETURN d.title AS document, count(DISTINCT q) AS questions, toInteger(round(sum(toFloat(q.prompt_tokens + q.completion_tokens) / size(used)))) AS tokens,
  CASE WHEN count(q.dollars) > 0 THEN round(sum(q.dollars / size(used)), 6) END AS dollars, d.source AS source
ORDER BY tokens DESC, questions DESC, source
LIMIT 50
