// All edges of all runs, a row a statement that an edge is based on. Streamed; once a version of the memory, for a recipe of `pruned` that compares all runs.
MATCH (r:Run)-[h:HOLDS]->(x)-[:RELATES_BY]->(l:Relation)
MATCH (x)-[:IN]->(p:Passage)-[:PART_OF]->(:Document {status: 'ready'})
RETURN r.id AS run, h.number AS number, h.position AS position, h.subject AS subject, l.name AS relation, h.object AS object, x.id AS statement, p.id AS passage
