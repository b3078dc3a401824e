// New propositions; `relation` of triples only; the procedure stores the vector in 32 bits. $rows: [{id, text, relation, vector: bytes, embedding, passage: id}].
// `title` is what Neo4j Browser shows. Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
CREATE (f:Proposition {id: row.id, title: left(row.text, 80), text: row.text, relation: row.relation, vector: row.vector})-[:IN]->(p)
WITH f, row
CALL db.create.setNodeVectorProperty(f, 'embedding', row.embedding)
RETURN count(*) AS written
