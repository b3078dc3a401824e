// Chains of two pairs from a name: a pair about it, and a pair about what answers that.
// Of a name in more than 500 documents, 500 are looked at.
// $concept: a name; without one, the name (no date, number or common word) that occurs in most passages
// $common: a name in more passages than this joins nothing
WITH null AS concept, 50 AS common
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
WITH c, x, common LIMIT 500
MATCH path = (c)<-[:REFERS_TO]-(x)<-[:ABOUT]-(first:QAPair)-[:ANSWERED_BY]->(e:Entity)-[:REFERS_TO]->(m:Concept)
WHERE m.id <> c.id AND m.passages <= common AND m.joins
WITH c, first, m, path LIMIT 300
MATCH onward = (m)<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(second:QAPair)
WHERE first.id <> second.id AND second.answer <> '' AND NOT EXISTS { (second)-[:ANSWERED_BY]->(:Entity)-[:REFERS_TO]->(c) }
RETURN DISTINCT c.name AS name, first.question AS first, m.name AS through, second.question AS second, second.answer AS answer
  , collect(path) + collect(onward) AS drawing
ORDER BY first, through, second, answer
LIMIT 100
