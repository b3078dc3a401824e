// Passages in which no name, verb phrase, pair or fact was found.
MATCH (p:Passage)
WHERE NOT EXISTS { (p)<-[:IN]-() } AND NOT EXISTS { MATCH (p)-[n:NAMES]->() WHERE n.counted }
WITH p ORDER BY p.title, p.position, p.id
LIMIT 100
MATCH (p)-[:PART_OF]->(d:Document)
RETURN p.title AS title, p.position + 1 AS passage, size(p.text) AS characters, trim(reduce(begin = '', word IN split(p.text, ' ')[..12] | begin + word + ' ')) AS text, d.source AS source
ORDER BY title, passage, source
LIMIT 100
