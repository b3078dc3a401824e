// What PropRAG starts from: the passages and the propositions nearest to a question with their scores, and the memory's version stamp.
// $embedding, $passages, $propositions: how many of each. One row. Runs once an ask of `proprag`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
MATCH (m:Memory {id: 'memory'})
CALL () {
  CALL db.index.vector.queryNodes('passage_embedding', $passages + 50, $embedding) YIELD node AS p, score
  WITH p.id AS id, score
  ORDER BY score DESC, id
  LIMIT $passages
  RETURN collect(id) AS near, collect(score) AS near_scores
}
CALL () {
  CALL db.index.vector.queryNodes('proposition_embedding', $propositions + 50, $embedding) YIELD node AS f, score
  WITH f.id AS id, score
  ORDER BY score DESC, id
  LIMIT $propositions
  RETURN collect(id) AS facts, collect(score) AS fact_scores
}
RETURN m.version AS version, near, near_scores, facts, fact_scores
