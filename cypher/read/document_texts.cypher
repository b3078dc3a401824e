// The passages of a document with their texts, in order. $id: of the document. Runs once a document for `doctor --deep`.
MATCH (p:Passage)-[:PART_OF|SUPERSEDED_IN]->(:Document {id: $id})
RETURN p.text AS text, p.title AS title, p.position AS position
ORDER BY position
