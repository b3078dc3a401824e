// Concepts after their entities or passages went: the count of passages falls, the name is the greatest that is left, a concept that nothing refers to or names goes.
// $rows: [{id, places, joins}], `joins` as of new entities.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)
  RETURN e.name AS name
  UNION ALL
  MATCH (c)<-[n:NAMES]-(:Passage)
  RETURN n.name AS name
}
WITH row, c, max(name) AS name
SET c.passages = c.passages - row.places, c.name = name, c.joins = row.joins AND (name <> toLower(name) OR name = toUpper(name))
WITH c, name
WHERE name IS NULL
DETACH DELETE c
