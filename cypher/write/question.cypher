// A question that was asked, and what its answer used. $id; $properties: what is known of it; $pairs: [{id, hop, rank, score}]; $passages: [{id, rank, score, cited}].
// `hop` counts from 1 in the best chain that holds the pair, `rank` is that chain's place, or the passage's. Runs once a question.
CREATE (q:Question {id: $id})
SET q += $properties
WITH q
CALL (q) {
  UNWIND $pairs AS row
  MATCH (p:QAPair {id: row.id})
  CREATE (q)-[:USED {hop: row.hop, rank: row.rank, score: row.score}]->(p)
  RETURN count(*) AS pairs
}
CALL (q) {
  UNWIND $passages AS row
  MATCH (p:Passage {id: row.id})
  CREATE (q)-[:USED {rank: row.rank, score: row.score, cited: row.cited}]->(p)
  RETURN count(*) AS passages
}
RETURN pairs, passages
