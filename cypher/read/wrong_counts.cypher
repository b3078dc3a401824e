// Concepts that miscount their passages, and nodes that nothing supports: all zero in a sound memory. Runs for `doctor`.
CALL () {
  MATCH (c:Concept)
  OPTIONAL MATCH (c)<-[:REFERS_TO]-(:Entity)-[i:IN]->(:Passage)
  WITH c, count(i) AS places
  WHERE c.passages <> places
  RETURN count(c) AS miscounted
}
CALL () {
  MATCH (p:Passage)
  WHERE NOT EXISTS { (p)-[:PART_OF]->(:Document) }
  RETURN count(p) AS loose_passages
}
CALL () {
  MATCH (e:Entity)
  WHERE NOT EXISTS { (e)-[:IN]->(:Passage) }
  RETURN count(e) AS loose_entities
}
RETURN miscounted, loose_passages, loose_entities
