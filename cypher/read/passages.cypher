// Passages by id. $ids. Runs once an ask.
UNWIND $ids AS id
MATCH (p:Passage {id: id})-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section
