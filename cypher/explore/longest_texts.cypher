// The longest passages, which cost most to read.
MATCH (p:Passage)
WITH p, size(p.text) AS characters ORDER BY characters DESC, p.id
LIMIT 25
MATCH (p)-[:PART_OF]->(d:Document)
RETURN p.title AS title, p.position + 1 AS passage, characters, trim(reduce(text = '', word IN split(p.text, ' ')[..8] | text + word + ' ')) AS begins, d.source AS source
ORDER BY characters DESC, source, passage
LIMIT 25
