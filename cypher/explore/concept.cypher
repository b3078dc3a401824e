// Everything about a name, over all documents: roles, question-answer pairs, facts, passages.
// Of a name in more than 500 documents or passages, 500 are looked at.
// $concept: a name; without one, the name (no date, number or common word) that occurs in most passages
WITH null AS concept
CALL (concept) {
  MATCH (c:Concept {id: toLower(concept)})
  RETURN c
  UNION
  MATCH (c:Concept)
  WHERE concept IS NULL
  WITH c ORDER BY c.passages DESC, c.id LIMIT 500
  RETURN c ORDER BY NOT c.joins, c.passages DESC, c.id LIMIT 1
}
MATCH (c)<-[link:REFERS_TO|NAMES]-(e)
WHERE link.counted OR link.weight IS NULL
WITH c, e, link ORDER BY link.counted IS NOT NULL LIMIT 500
WITH c, collect(e) AS places
CALL (places) {
  UNWIND places AS e
  MATCH (e)-[plays:PLAYS]->(r:Role)
  MATCH (e)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 1 AS place, 'role' AS kind,
    r.name + reduce(text = '', state IN plays.states | text + CASE text WHEN '' THEN ': ' ELSE ', ' END + state) AS says, d.title AS document
  UNION
  UNWIND places AS e
  MATCH (e)<-[:ABOUT]-(q:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  WHERE q.answer <> ''
  RETURN DISTINCT 2 AS place, 'pair about it' AS kind, q.question + ' ' + q.answer AS says, d.title AS document
  UNION
  UNWIND places AS e
  MATCH (e)<-[:ANSWERED_BY]-(q:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 3 AS place, 'pair it answers' AS kind, q.question + ' ' + q.answer AS says, d.title AS document
  UNION
  UNWIND places AS e
  MATCH (e)<-[:MENTIONS]-(f:Proposition)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 4 AS place, 'fact' AS kind, f.text AS says, d.title AS document
  UNION
  UNWIND places AS e
  MATCH (e)-[:IN*0..1]->(p:Passage)-[:PART_OF]->(d:Document)
  RETURN DISTINCT 5 AS place, 'passage' AS kind, reduce(text = '', word IN split(p.text, ' ')[..30] | text + CASE text WHEN '' THEN '' ELSE ' ' END + word) AS says, d.title AS document
}
WITH c, place, kind, says, document ORDER BY document
WITH c, place, kind, says, count(DISTINCT document) AS documents, collect(DISTINCT document)[..3] AS some
RETURN c.name AS name, kind, says, documents, some
ORDER BY place, documents DESC, says
LIMIT 200
