// Vectors of those of some concepts that have one. $ids. Runs once a batch of runs.
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.vector IS NOT NULL
RETURN c.id AS id, c.vector AS vector
