// Vectors of concepts that edges join, of those that have none yet. $rows: [{id, vector: bytes}]. Runs once a batch of runs.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
WHERE c.vector IS NULL
SET c.vector = row.vector
