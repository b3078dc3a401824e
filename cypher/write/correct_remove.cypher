// Takes pairs and propositions out of their passages, so that no search finds them. $rows: [{target}].
UNWIND $rows AS row
OPTIONAL MATCH (q:QAPair {id: row.target})
OPTIONAL MATCH (f:Proposition {id: row.target})
WITH coalesce(q, f) AS fact
MATCH (fact)-[place:IN]->(p:Passage)
CREATE (fact)-[:REMOVED_FROM]->(p)
DELETE place
