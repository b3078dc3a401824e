// Concepts after their entities or passages went: the count of passages falls, and a concept that nothing refers to or names goes. `spellings` names the others anew.
// $rows: [{id, places}].
UNWIND $rows AS row
MATCH (c:Concept {id: row.id})
SET c.passages = c.passages - row.places
WITH c
WHERE NOT EXISTS { (c)<-[:REFERS_TO]-(:Entity) } AND NOT EXISTS { MATCH (c)<-[n:NAMES]-(:Passage) WHERE n.name IS NOT NULL }
DETACH DELETE c
