// New verb phrases. $rows: [{id, phrase, vector: bytes, passage: id}]. Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
CREATE (v:VerbPhrase {id: row.id, phrase: row.phrase, vector: row.vector})-[:IN]->(p)
RETURN count(*) AS written
