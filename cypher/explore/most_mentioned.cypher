// The names that occur in most passages, and in how many documents.
// Without dates, numbers and common words.
MATCH (c:Concept)
WITH c ORDER BY c.passages DESC, c.id LIMIT 5000
WHERE c.joins
WITH c ORDER BY c.passages DESC, c.id
LIMIT 25
MATCH (c)<-[:REFERS_TO]-(:Entity)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
RETURN c.name AS name, c.passages AS passages, count(DISTINCT d) AS documents
ORDER BY passages DESC, name
LIMIT 25
