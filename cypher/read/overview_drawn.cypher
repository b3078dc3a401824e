// The names that bring most documents together, else any, each with a few of the passages they occur in: a first picture of a memory, in Neo4j Browser or in a file.
// Dates and names of more than 50 passages are left out. Runs once a `browse`.
MATCH (concept:Concept)<-[:REFERS_TO]-(name:Entity)
WHERE concept.passages <= 50 AND name.from IS NULL
WITH concept, count(name) AS documents ORDER BY documents DESC, concept.passages DESC, concept.id LIMIT 4
CALL (concept) {
  MATCH path = (concept)<-[:REFERS_TO]-(:Entity)-[:IN]->(passage:Passage)
  RETURN path ORDER BY passage.id LIMIT 3
}
RETURN path
