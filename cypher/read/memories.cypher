// The labels of Memory nodes, of which each memory of a database has its own. Runs for `memories`.
CALL db.labels() YIELD label
WHERE label = 'Memory' OR label STARTS WITH 'Memory__'
RETURN label
