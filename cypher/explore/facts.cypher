// The facts about a name: propositions and triples that mention it, in any document.
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
MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS]-(f:Proposition)-[:IN]->(p:Passage)
RETURN DISTINCT c.name AS name, f.text AS fact, p.title AS title
ORDER BY title, fact
LIMIT 200
