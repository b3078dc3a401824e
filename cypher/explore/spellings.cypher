// Names with several spellings, which count as one: how each is written, and in how many documents.
MATCH (c:Concept)
WHERE COUNT { (c)<-[:REFERS_TO|NAMES]-() } > 1
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)
  RETURN e.name AS spelling, count(e) AS times
  UNION ALL
  MATCH (c)<-[n:NAMES]-(:Passage)-[:PART_OF]->(d:Document)
  WHERE n.counted
  RETURN n.name AS spelling, count(DISTINCT d) AS times
}
WITH c, spelling, sum(times) AS documents ORDER BY documents DESC, spelling
WITH c, collect(spelling + ' (' + toString(documents) + ')') AS spellings
WHERE size(spellings) > 1
RETURN c.name AS name, spellings, c.passages AS passages
ORDER BY passages DESC, name
LIMIT 100
