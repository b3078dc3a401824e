// Passages by id. $ids. Runs once an ask.
UNWIND $ids AS id
MATCH (p:Passage {id: id})-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section, p.speaker AS speaker, p.at AS at
