// Indexes that do not answer yet. Runs once after a change of the schema.
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN name
