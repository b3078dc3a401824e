// A question that was asked, and what its answer used. $id; $properties: what is known of it; $pairs: [{id, hop, rank, score}]; $passages: [{id, rank, score, cited, quote}];
// $cached_from: the id of the earlier question that it was answered from, or null.
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
  CREATE (q)-[:USED {rank: row.rank, score: row.score, cited: row.cited, quote: row.quote}]->(p)
  RETURN count(*) AS passages
}
CALL (q) {
  MATCH (s:Question {id: $cached_from})
  CREATE (q)-[:REUSED]->(s)
  RETURN count(*) AS reused
}
RETURN pairs, passages, reused
