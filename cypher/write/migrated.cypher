// Migration $schema of an older memory is done.
MATCH (m:Memory {id: 'memory'})
SET m.schema = $schema
