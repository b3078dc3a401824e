// Counts the passages of every concept and picks its name anew, as `spellings` does; one that nothing refers to or names goes. Runs for `doctor --mend`, after mend_loose.
MATCH (c:Concept)
WHERE c.id IS NOT NULL
CALL (c) {
  OPTIONAL MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)
  WHERE link.counted OR link.weight IS NULL
  RETURN count(DISTINCT p) AS places
}
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)-[:IN]->(p:Passage)
  RETURN e.name AS spelling, count(p) AS times
  UNION ALL
  MATCH (c)<-[n:NAMES]-(:Passage)
  WHERE n.name IS NOT NULL
  RETURN n.name AS spelling, count(n) AS times
  UNION ALL
  RETURN null AS spelling, 0 AS times
}
WITH c, places, spelling, sum(times) AS times
ORDER BY times DESC, spelling DESC
WITH c, places, collect(spelling)[0] AS name
SET c.passages = places, c.name = name
WITH c, name
WHERE name IS NULL
DETACH DELETE c
