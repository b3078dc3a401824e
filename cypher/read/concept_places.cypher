// In how many of some passages the entities of each concept occur, or rules found its name alone; 0 of one that the passages name besides. $passages. Runs once a batch that is forgotten, before the deletion.
UNWIND $passages AS id
MATCH (p:Passage {id: id})
CALL (p) {
  MATCH (p)<-[:IN]-(:Entity)-[:REFERS_TO]->(c:Concept)
  RETURN c, true AS counted
  UNION
  MATCH (p)-[n:NAMES]->(c:Concept)
  RETURN c, coalesce(n.counted, false) AS counted
}
RETURN c.id AS id, count(DISTINCT CASE WHEN counted THEN p END) AS places
