// Counts the passages of every concept and picks its name anew; one that nothing refers to or names goes. Runs for `doctor --mend`, after mend_loose.
MATCH (c:Concept)
WHERE c.id IS NOT NULL
CALL (c) {
  OPTIONAL MATCH (c)<-[:REFERS_TO]-(e:Entity)-[:IN]->(p:Passage)
  RETURN count(DISTINCT p) AS places, max(e.name) AS written
}
CALL (c) {
  OPTIONAL MATCH (c)<-[n:NAMES]-(:Passage)
  RETURN max(n.name) AS named
}
WITH c, places, CASE WHEN written IS NULL OR named > written THEN named ELSE written END AS name
SET c.passages = places, c.name = name
WITH c, name
WHERE name IS NULL
DETACH DELETE c
