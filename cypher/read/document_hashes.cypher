// Every document with what its texts were. Runs for `doctor --deep`.
MATCH (d:Document)
WHERE d.id IS NOT NULL
RETURN d.id AS id, d.source AS source, d.title AS title, d.text_hash AS text_hash, d.extractor AS extractor, d.status AS status
