// Which documents speak of harbour fees?
// {"words": "harbour fee"}
MATCH (p:Passage)-[:PART_OF]->(d:Document {status: 'ready'})
WHERE toLower(p.text) CONTAINS $words
RETURN d.title AS document, d.source AS source, collect(DISTINCT p.id) AS evidence
ORDER BY document, source
LIMIT 100
