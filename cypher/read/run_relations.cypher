// Relations with their packed vectors. Once a version of the memory, with `all_runs`.
MATCH (l:Relation)
WHERE l.vector IS NOT NULL
RETURN l.name AS name, l.vector AS vector
