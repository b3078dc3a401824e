// The version stamp. Runs around every read of the whole name graph.
MATCH (m:Memory {id: 'memory'})
RETURN m.version AS version
