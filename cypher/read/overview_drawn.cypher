// The names that bring most documents together, else any, each with a few of the passages they occur in: a first picture of a memory, in Neo4j Browser or in a file.
// Of the 500 names in most passages, without dates and names of more than 50 passages. Runs once a `browse`.
MATCH (concept:Concept)
WHERE concept.passages > 0 AND concept.passages <= 50 AND NOT EXISTS { MATCH (concept)<-[:REFERS_TO]-(date:Entity) WHERE date.from IS NOT NULL }
WITH concept ORDER BY concept.passages DESC, concept.id LIMIT 500
MATCH (concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)-[:PART_OF]->(d:Document)
WHERE link.counted OR link.weight IS NULL
WITH concept, count(DISTINCT d) AS documents ORDER BY documents DESC, concept.passages DESC, concept.id LIMIT 4
CALL (concept) {
  MATCH path = (concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(passage:Passage)
  WHERE link.counted OR link.weight IS NULL
  RETURN path ORDER BY passage.id LIMIT 3
}
RETURN path
