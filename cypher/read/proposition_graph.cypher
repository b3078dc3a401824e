// All propositions with the concepts they mention, a row a passage; a passage without any has empty lists. `mentions`: for each proposition its concepts.
// Runs once a version of the memory, and is streamed; the result is kept by the client.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
CALL (p) {
  MATCH (f:Proposition)-[:IN]->(p)
  OPTIONAL MATCH (f)-[:MENTIONS]->(:Entity)-[:REFERS_TO]->(c:Concept)
  WITH f, collect(DISTINCT c.id) AS mentioned
  RETURN collect(f.id) AS ids, collect(f.embedding) AS vectors, collect(mentioned) AS mentions
}
RETURN p.id AS id, ids, vectors, mentions
