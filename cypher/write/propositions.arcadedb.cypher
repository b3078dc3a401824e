// New propositions; `relation` of triples only. $rows: [{id, text, relation, vector: bytes, embedding, passage: id}].
// `title` is what Neo4j Browser shows. Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
CREATE (f:Proposition {id: row.id, title: left(row.text, 80), text: row.text, relation: row.relation, vector: row.vector, embedding: row.embedding})-[:IN]->(p)
RETURN count(*) AS written
