// The names that bring most documents together, with the passages they stand in, for Neo4j Browser. Dates and names of more than 50 passages are left out.
// Runs in Browser, once a `browse`.
MATCH (concept:Concept)<-[:REFERS_TO]-(name:Entity)
WHERE concept.passages > 1 AND concept.passages <= 50 AND name.from IS NULL
WITH concept, count(name) AS documents ORDER BY documents DESC, concept.passages DESC, concept.id LIMIT 8
MATCH path = (concept)<-[:REFERS_TO]-(:Entity)-[:IN]->(:Passage)
RETURN path LIMIT 60
