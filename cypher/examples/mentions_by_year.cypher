// How many documents mention Ann Bell, year by year?
// {"name": "ann bell"}
MATCH (:Concept {id: $name})-[:ALIAS_OF*0..2]-(:Concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)-[:PART_OF]->(d:Document {status: 'ready'})
WHERE link.counted OR link.weight IS NULL
RETURN left(d.about, 4) AS year, count(DISTINCT d) AS documents, collect(DISTINCT p.id) AS evidence
ORDER BY year
LIMIT 100
