// Concepts after their entities went: the count of passages falls, the name is the greatest that is left, a concept that nobody refers to goes.
// $rows: [{id, places}].
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
OPTIONAL MATCH (c)<-[:REFERS_TO]-(e:Entity)
WITH c, row, max(e.name) AS name
SET c.passages = c.passages - row.places, c.name = name
WITH c, name
WHERE name IS NULL
DETACH DELETE c
