// Concepts after their entities or passages went: the count of passages falls, the name is the greatest that is left, a concept that nothing refers to or names goes.
// $rows: [{id, places, joins}], `joins` as of new entities.
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
OPTIONAL MATCH (c)<-[:REFERS_TO]-(e:Entity)
WITH row, c, max(e.name) AS referred
OPTIONAL MATCH (c)<-[n:NAMES]-(:Passage)
WITH row, c, referred, max(n.name) AS named
WITH row, c, CASE WHEN referred IS NULL OR named > referred THEN named ELSE referred END AS name
SET c.passages = c.passages - row.places, c.name = name, c.joins = row.joins AND (name <> toLower(name) OR name = toUpper(name))
WITH c, name
WHERE name IS NULL
DETACH DELETE c
