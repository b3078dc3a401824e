// Removes the Memory node of a memory that holds nothing more. Runs when a named memory is removed.
MATCH (m:Memory {id: 'memory'})
DELETE m
