// The names that one passage holds, with the roles they play in its document.
// Browser draws them around it. A name refers to a concept, the same in every document: double-click one in Browser to see where else it occurs.
// $title: the title of the passage in any letters; without one, the passage loaded last
WITH null AS title
CALL (title) {
  MATCH (p:Passage)
  WHERE toLower(p.title) = toLower(title)
  RETURN p ORDER BY p.position, p.id LIMIT 3
  UNION
  MATCH (d:Document)
  WHERE title IS NULL
  WITH d ORDER BY d.loaded_at DESC, d.source LIMIT 20
  MATCH (d)<-[:PART_OF]-(p:Passage)
  WHERE EXISTS { (p)<-[:IN]-(:Entity) } OR EXISTS { (p)-[:NAMES]->(:Concept) }
  RETURN p ORDER BY d.loaded_at DESC, d.source, p.position LIMIT 1
}
MATCH path = (p)<-[:IN*0..1]-(e)-[link:REFERS_TO|NAMES]->(c:Concept)
WHERE link.counted OR link.weight IS NULL
OPTIONAL MATCH (e)-[:PLAYS]->(r:Role)
RETURN p.title AS title, p.position + 1 AS passage, coalesce(link.name, e.name) AS name, c.passages AS passages, collect(DISTINCT r.name) AS roles
  , collect(path) AS drawing
ORDER BY passage, passages DESC, name
LIMIT 200
