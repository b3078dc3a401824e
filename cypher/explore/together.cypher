// The names that occur in the same passages as a name, most often first.
// Without dates, numbers and common words.
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
MATCH (c)<-[link:REFERS_TO|NAMES]-(x)
WHERE link.counted OR link.weight IS NULL
WITH c, x LIMIT 500
MATCH (x)-[:IN*0..1]->(p:Passage)
WITH DISTINCT c, p
MATCH (p)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(m:Concept)
WHERE (link.counted OR link.weight IS NULL) AND m.id <> c.id AND m.joins
RETURN c.name AS name, m.name AS with, count(DISTINCT p) AS passages, m.passages AS of_all
ORDER BY passages DESC, of_all, with
LIMIT 50
