// Nodes by the id that the engine gave them, for relationships that a query returned without their ends. $ids. Runs once a `draw` that needs it.
MATCH (n)
WHERE elementId(n) IN $ids
RETURN n
