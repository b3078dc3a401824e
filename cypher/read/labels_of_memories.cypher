// Labels that may be of named memories of the database. Runs before a query that people wrote for the default memory.
CALL db.labels() YIELD label
WHERE label CONTAINS '__'
RETURN label
