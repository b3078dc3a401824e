// Vectors of those of some relations that there are. $names. Runs once a batch of runs.
UNWIND $names AS name
MATCH (r:Relation {name: name})
WHERE r.vector IS NOT NULL
RETURN r.name AS name, r.vector AS vector
