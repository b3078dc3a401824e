// Deletes all corrections, and the names that only they made. Runs when everything is forgotten, after the documents.
CALL () {
  MATCH (c:Correction)
  DETACH DELETE c
  RETURN count(*) AS corrections
}
CALL () {
  MATCH (c:Concept)
  WHERE c.id IS NOT NULL AND NOT EXISTS { (c)<-[:REFERS_TO]-() } AND NOT EXISTS { (c)<-[:NAMES]-() }
  DETACH DELETE c
  RETURN count(*) AS concepts
}
RETURN corrections, concepts
