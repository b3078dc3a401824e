// The facts about a name: propositions and triples that mention it, in any document.
// Of a name in more than 500 documents, 500 are looked at.
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
MATCH (c)<-[:REFERS_TO]-(x:Entity)
WITH c, x LIMIT 500
MATCH (x)<-[:MENTIONS]-(f:Proposition)-[:IN]->(p:Passage)
RETURN DISTINCT c.name AS name, f.text AS fact, p.title AS title
ORDER BY title, fact
LIMIT 200
