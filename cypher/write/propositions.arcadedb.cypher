// New propositions; `relation` of triples only. $rows: [{id, text, relation, embedding, passage: id}].
// Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
CREATE (f:Proposition {id: row.id, text: row.text, relation: row.relation, embedding: row.embedding})-[:IN]->(p)
RETURN count(*) AS written
