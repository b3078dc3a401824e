// The passages in which drawn nodes occur, a row each. $entities, $pairs, $phrases, $propositions, $passages (each itself): ids; of an Entity at most $most passages. Runs once a `draw`.
UNWIND $entities AS id
MATCH (n:Entity {id: id})
CALL (n) {
  MATCH (n)-[:IN]->(p:Passage)
  RETURN p ORDER BY p.id LIMIT $most
}
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN id, p.id AS passage, p.title AS title, p.text AS text, d.source AS source
UNION ALL
UNWIND $passages AS id
MATCH (p:Passage {id: id})-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN id, p.id AS passage, p.title AS title, p.text AS text, d.source AS source
UNION ALL
UNWIND $pairs AS id
MATCH (:QAPair {id: id})-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN id, p.id AS passage, p.title AS title, p.text AS text, d.source AS source
UNION ALL
UNWIND $phrases AS id
MATCH (:VerbPhrase {id: id})-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN id, p.id AS passage, p.title AS title, p.text AS text, d.source AS source
UNION ALL
UNWIND $propositions AS id
MATCH (:Proposition {id: id})-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN id, p.id AS passage, p.title AS title, p.text AS text, d.source AS source
