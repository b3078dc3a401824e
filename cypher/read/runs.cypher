// All edges of all runs: a row for each statement that an edge stands on, with its vector, packed where it is a pair's. Streamed; once a version of the memory, kept by the client.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)<-[:IN]-(x)<-[h:HOLDS]-(r:Run)
MATCH (x)-[:RELATES_BY]->(l:Relation)
RETURN r.id AS run, h.number AS number, h.position AS position, h.subject AS subject, l.name AS relation, h.object AS object,
  x.id AS statement, p.id AS passage, coalesce(x.vector, x.embedding) AS vector
