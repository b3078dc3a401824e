// Counts the passages of some concepts anew. $ids. One that nothing refers to or names, and that is no name for another, goes.
UNWIND $ids AS id
MATCH (c:Concept {id: id})
CALL (c) {
  OPTIONAL MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)
  WHERE link.counted OR link.weight IS NULL
  RETURN count(DISTINCT p) AS places
}
SET c.passages = places
WITH c
WHERE NOT EXISTS { (c)<-[:REFERS_TO]-(:Entity) } AND NOT EXISTS { (c)<-[:NAMES]-(:Passage) } AND NOT EXISTS { (c)<-[:ALIAS_OF]-(:Concept) }
DETACH DELETE c
