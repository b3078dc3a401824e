// Passages that a concept, or one merged with it, occurs in, by source, with the concepts beside it. $id; $limit passages. Of a concept in more than 500 documents or passages, 500 are looked at.
// Runs once where a name is followed.
MATCH (:Concept {id: $id})-[:ALIAS_OF*0..2]-(:Concept)<-[link:REFERS_TO|NAMES]-(found)
WHERE link.counted OR link.weight IS NULL
WITH DISTINCT found LIMIT 500
MATCH (found)-[:IN*0..1]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
WITH DISTINCT p, d ORDER BY d.source, p.position LIMIT $limit
CALL (p) {
  MATCH (p)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(o:Concept)
  WHERE link.counted OR link.weight IS NULL
  WITH DISTINCT o
  RETURN collect({id: o.id, name: o.name, passages: o.passages}) AS beside
}
RETURN p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document, beside, p.position AS position
ORDER BY source, position
