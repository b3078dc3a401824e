// Puts passages back into their documents. $rows: [{target}].
UNWIND $rows AS row
MATCH (p:Passage {id: row.target})-[part:SUPERSEDED_IN]->(d:Document)
CREATE (p)-[:PART_OF]->(d)
DELETE part
