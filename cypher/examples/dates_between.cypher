// List all dates from 1901 to 1905 with the documents that give them.
// {"since": "1901", "before": "1906"}
MATCH (date:Entity)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document {status: 'ready'})
WHERE date.from >= $since AND date.from < $before
RETURN date.from AS day, date.name AS date, collect(DISTINCT d.title) AS documents, collect(DISTINCT p.id) AS evidence
ORDER BY day, date
LIMIT 100
