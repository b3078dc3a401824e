// Gives concepts the commonest of their names, by the passages that have it, of several the greatest: "Beyoncé" before "Beyonce" before "BEYONCE", whatever came first.
// $rows: [{id, name, joins}]. `name`: what was written of it last, null after something went; what has the name that the concept shows is left. `joins` as of entities, and false
// of a name in small letters alone. Runs once a batch that is written or forgotten.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
WHERE row.name IS NULL OR c.name <> row.name
WITH DISTINCT c, row.joins AS joins
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)-[:IN]->(p:Passage)
  RETURN e.name AS spelling, count(p) AS times
  UNION ALL
  MATCH (c)<-[n:NAMES]-(:Passage)
  WHERE n.name IS NOT NULL
  RETURN n.name AS spelling, count(n) AS times
}
WITH c, joins, spelling, sum(times) AS times
ORDER BY times DESC, spelling DESC
WITH c, joins, collect(spelling)[0] AS name
SET c.name = name, c.joins = joins AND (name <> toLower(name) OR name = toUpper(name)),
  c.opens = CASE WHEN EXISTS { (c)<-[:REFERS_TO]-(:Entity) } OR EXISTS { MATCH (c)<-[n:NAMES]-(:Passage) WHERE n.counted }
    THEN NOT EXISTS { MATCH (c)<-[:REFERS_TO]-(e:Entity) WHERE e.opens IS NULL } AND NOT EXISTS { MATCH (c)<-[n:NAMES]-(:Passage) WHERE n.counted AND n.opens IS NULL } END
