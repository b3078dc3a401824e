// The seeds of a walk: the passages nearest to each of some questions, and the memory's version stamp. $embeddings, $k. Runs once or twice an ask of `linked`, `ricr` or `fusion`, with a plan in `fusion` once a level more.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
MATCH (m:Memory {id: 'memory'})
UNWIND range(0, size($embeddings) - 1) AS n
CALL (n) {
  CALL db.index.vector.queryNodes('passage_embedding', $k + 50, $embeddings[n]) YIELD node AS p, score
  WITH p.id AS id, score
  ORDER BY score DESC, id
  LIMIT $k
  RETURN collect(id) AS ids, collect(score) AS scores
}
RETURN m.version AS version, n, ids, scores
