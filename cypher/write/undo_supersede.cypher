// Puts passages back into their documents. $rows: as of `correct_supersede`.
UNWIND $rows AS row
MATCH (p:Passage)-[part:SUPERSEDED_IN]->(d:Document {id: row.places[0]})
WHERE p.text = row.texts[0]
CREATE (p)-[:PART_OF]->(d)
DELETE part
