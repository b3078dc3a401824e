// Puts pairs and propositions back into their passages. $rows: [{target}].
UNWIND $rows AS row
OPTIONAL MATCH (q:QAPair {id: row.target})
OPTIONAL MATCH (f:Proposition {id: row.target})
WITH coalesce(q, f) AS fact
MATCH (fact)-[place:REMOVED_FROM]->(p:Passage)
CREATE (fact)-[:IN]->(p)
DELETE place
