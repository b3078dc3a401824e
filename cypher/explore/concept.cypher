// Everything about a name, over all documents: roles, question-answer pairs, facts, passages.
// $concept: a name; without one, the name (no date, number or common word) that stands in most passages
WITH null AS concept
CALL (concept) {
  MATCH (c:Concept {id: toLower(concept)})
  RETURN c
  UNION
  MATCH (c:Concept)
  WHERE concept IS NULL
  WITH c ORDER BY c.name = toLower(c.name), c.passages DESC, c.id LIMIT 100
  WHERE NOT EXISTS { MATCH (c)<-[:REFERS_TO]-(e:Entity) WHERE e.from IS NOT NULL }
  RETURN c ORDER BY c.name = toLower(c.name), c.passages DESC, c.id LIMIT 1
}
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)-[plays:PLAYS]->(r:Role)
  MATCH (e)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 1 AS place, 'role' AS kind,
    r.name + reduce(text = '', state IN plays.states | text + CASE text WHEN '' THEN ': ' ELSE ', ' END + state) AS says, d.title AS document
  UNION
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(q:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  WHERE q.answer <> ''
  RETURN DISTINCT 2 AS place, 'pair about it' AS kind, q.question + ' ' + q.answer AS says, d.title AS document
  UNION
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:ANSWERED_BY]-(q:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 3 AS place, 'pair it answers' AS kind, q.question + ' ' + q.answer AS says, d.title AS document
  UNION
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS]-(f:Proposition)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 4 AS place, 'fact' AS kind, f.text AS says, d.title AS document
  UNION
  MATCH (c)<-[:REFERS_TO]-(:Entity)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 5 AS place, 'passage' AS kind, left(p.text, 200) AS says, d.title AS document
}
RETURN c.name AS name, kind, says, document
ORDER BY place, document, says
LIMIT 200
