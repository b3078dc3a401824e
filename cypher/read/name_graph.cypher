// All names in all passages, a row a passage: `names` are concepts, `titles` those among them that are its title. Dates are no names here.
// Runs once a version of the memory; the result is kept by the client.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
OPTIONAL MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
WHERE e.from IS NULL
RETURN p.id AS id, collect(c.id) AS names, collect(i.title) AS titles
