// Concepts after their entities or passages went: the count of passages falls, the name is the greatest that is left, a concept that nothing refers to or names goes.
// $rows: [{id, places, joins}], `joins` as of new entities.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
CALL (c) {
  OPTIONAL MATCH (c)<-[:REFERS_TO]-(e:Entity)
  RETURN max(e.name) AS written
}
CALL (c) {
  OPTIONAL MATCH (c)<-[n:NAMES]-(:Passage)
  RETURN max(n.name) AS named
}
WITH row, c, CASE WHEN written IS NULL OR named > written THEN named ELSE written END AS name
SET c.passages = c.passages - row.places, c.name = name, c.joins = row.joins AND (name <> toLower(name) OR name = toUpper(name))
WITH c, name
WHERE name IS NULL
DETACH DELETE c
