// Takes passages out of what is searched; `show` and searches leave them out. $rows: [{target}].
UNWIND $rows AS row
MATCH (p:Passage {id: row.target})-[part:PART_OF]->(d:Document)
CREATE (p)-[:SUPERSEDED_IN]->(d)
DELETE part
