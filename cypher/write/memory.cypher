// The one Memory node. $embedder: model name; $dimension: of its vectors; $schema: its number. Runs once a memory, in the first load.
MERGE (m:Memory {id: 'memory'})
ON CREATE SET m.schema = $schema, m.embedder = $embedder, m.dimension = $dimension, m.created = $now, m.version = 0, m.indexed = false
RETURN m.version AS version
