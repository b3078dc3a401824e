// Passages nearest to a question. $embedding, $k: how many to look at. Runs once an ask of `dense`.
CALL db.index.vector.queryNodes('passage_embedding', $k, $embedding) YIELD node AS p, score
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document, score
ORDER BY score DESC, id
