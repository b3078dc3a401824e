// All names in all passages, a row a passage: `names` are concepts, `titles` says which of them are its title. Dates are no names here.
// `found`, `found_titles`: names that rules found in a passage whose entities come from elsewhere, and those of them that are its title.
// Runs once a version of the memory; the result is kept by the client.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
OPTIONAL MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
WHERE e.from IS NULL AND p.names IS NULL
RETURN p.id AS id, collect(c.id) AS names, collect(i.title) AS titles, p.names AS found, p.titles AS found_titles
