// Edges of runs that are based on propositions. $rows: [{run, statement, number, position, subject, object}], subject and object ids of concepts.
// Result: how many it wrote, which must be all. Runs once a batch of runs that has some.
UNWIND $rows AS row
MATCH (r:Run {id: row.run})
MATCH (x:Proposition {id: row.statement})
CREATE (r)-[:HOLDS {number: row.number, position: row.position, subject: row.subject, object: row.object}]->(x)
RETURN count(*) AS written
