// Counts the passages of every concept and picks its name anew; one that nobody refers to goes. Runs for `doctor --mend`, after mend_loose.
MATCH (c:Concept)
WHERE c.id IS NOT NULL
OPTIONAL MATCH (c)<-[:REFERS_TO]-(e:Entity)-[:IN]->(p:Passage)
WITH c, count(DISTINCT p) AS places, max(e.name) AS name
SET c.passages = places, c.name = name
WITH c, places
WHERE places = 0
DETACH DELETE c
