// The search indexes stand and answer. Runs once a memory, after its first rows.
MATCH (m:Memory {id: 'memory'})
SET m.indexed = true
