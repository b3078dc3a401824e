// Vectors of concepts that edges join. $rows: [{id, vector: bytes}]. Runs once a batch of runs that has new ones.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
SET c.vector = row.vector
