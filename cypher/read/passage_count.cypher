// How many passages a document has. $id. Runs before a document is replaced or forgotten.
MATCH (p:Passage)-[:PART_OF]->(:Document {id: $id})
RETURN count(p) AS passages
