// Every document's id, source and file. Runs when documents are to be forgotten.
MATCH (d:Document)
WHERE d.status IS NOT NULL
RETURN d.id AS id, d.source AS source, d.file AS file
ORDER BY source
