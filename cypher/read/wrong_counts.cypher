// Concepts that miscount their passages, and nodes that nothing supports: all zero in a sound memory. Runs for `doctor`.
CALL () {
  MATCH (c:Concept)
  OPTIONAL MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)
  WHERE link.counted OR link.weight IS NULL
  WITH c, count(DISTINCT p) AS places
  WHERE c.passages <> places
  RETURN count(c) AS miscounted
}
CALL () {
  MATCH (p:Passage)
  WHERE p.id IS NOT NULL AND NOT EXISTS { (p)-[:PART_OF|SUPERSEDED_IN]->(:Document) }
  RETURN count(p) AS loose_passages
}
CALL () {
  MATCH (e:Entity)
  WHERE e.id IS NOT NULL AND NOT EXISTS { (e)-[:IN]->(:Passage) }
  RETURN count(e) AS loose_entities
}
CALL () {
  MATCH (v:VerbPhrase)
  WHERE v.id IS NOT NULL AND NOT EXISTS { (v)-[:IN]->(:Passage) }
  RETURN count(v) AS loose_verb_phrases
}
CALL () {
  MATCH (q:QAPair)
  WHERE q.id IS NOT NULL AND NOT EXISTS { (q)-[:IN|REMOVED_FROM]->(:Passage) }
  RETURN count(q) AS loose_pairs
}
CALL () {
  MATCH (f:Proposition)
  WHERE f.id IS NOT NULL AND NOT EXISTS { (f)-[:IN|REMOVED_FROM]->(:Passage) }
  RETURN count(f) AS loose_propositions
}
CALL () {
  MATCH (r:Run)
  WHERE r.id IS NOT NULL AND (NOT EXISTS { (r)-[:IN]->(:Passage) } OR (r.edges > 0 AND NOT EXISTS { (r)-[:HOLDS]->() }))
  RETURN count(r) AS loose_runs
}
CALL () {
  MATCH (r:Relation)
  WHERE r.name IS NOT NULL AND NOT EXISTS { (r)<-[:RELATES_BY]-() }
  RETURN count(r) AS relations_of_nothing
}
CALL () {
  MATCH (r:Role)
  WHERE r.name IS NOT NULL AND NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
  RETURN count(r) AS roles_of_nobody
}
CALL () {
  MATCH (alias:Concept)-[merged:ALIAS_OF]->(concept)
  WHERE concept.id IS NULL OR concept = alias OR EXISTS { (concept)-[:ALIAS_OF]->() } OR COUNT { (alias)-[:ALIAS_OF]->() } > 1
  RETURN count(merged) AS wrong_merges
}
RETURN miscounted, loose_passages, loose_entities, loose_verb_phrases, loose_pairs, loose_propositions, loose_runs, relations_of_nothing, roles_of_nobody, wrong_merges
