// Bridges between documents: names that two documents share and nothing else joins.
// Dates, numbers and common words are none.
// $documents: a name in more documents than this is no bridge
WITH 5 AS documents
MATCH (c:Concept)
WHERE c.passages > 1 AND c.passages <= 50 AND (c.name <> toLower(c.name) OR c.name = toUpper(c.name) AND NOT c.id =~ '[0-9.,:%/ -]+')
WITH c, documents ORDER BY c.passages, c.id LIMIT 5000
MATCH (c)<-[:REFERS_TO]-(e:Entity)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
WHERE e.from IS NULL
WITH documents, c, collect(DISTINCT d) AS found
WHERE size(found) > 1 AND size(found) <= documents
UNWIND found AS one
UNWIND found AS two
WITH c, one, two
WHERE one.id < two.id
WITH one, two, collect(c.name) AS names
WHERE size(names) = 1
RETURN names[0] AS bridge, one.title AS one, two.title AS other
ORDER BY bridge, one, other
LIMIT 100
