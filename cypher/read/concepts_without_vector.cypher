// Those of some concepts whose vector is not known yet. $ids. Runs once a batch of runs.
UNWIND $ids AS id
MATCH (c:Concept {id: id})
WHERE c.vector IS NULL
RETURN c.id AS id
