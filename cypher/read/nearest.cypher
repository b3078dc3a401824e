// The seeds of a walk: the passages nearest to a question, and the memory's version stamp. $embedding, $k. Runs once an ask of `linked`.
CALL db.index.vector.queryNodes('passage_embedding', $k, $embedding) YIELD node AS p, score
WITH p.id AS id, score
ORDER BY score DESC, id
WITH collect(id) AS ids, collect(score) AS scores
MATCH (m:Memory {id: 'memory'})
RETURN m.version AS version, ids, scores
