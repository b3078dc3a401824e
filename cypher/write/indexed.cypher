// Whether the search indexes exist and answer, and over how many vectors they were built. $indexed, $vectors. Runs after they are built, and before they are built anew.
MATCH (m:Memory {id: 'memory'})
SET m.indexed = $indexed, m.vectors = $vectors
