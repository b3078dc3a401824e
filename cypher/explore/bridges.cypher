// Bridges between documents: names that two documents share and nothing else joins.
// Dates, numbers and common words are none, and names in more than 50 passages join nothing. Of the rarest 300 names.
// $documents: a name in more passages than this is no bridge
WITH 5 AS documents
MATCH (c:Concept)
WHERE c.passages > 1 AND c.passages <= documents AND c.joins
WITH c ORDER BY c.passages, c.id LIMIT 300
MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)-[:PART_OF]->(d:Document)
WHERE link.counted OR link.weight IS NULL
WITH c, collect(DISTINCT d) AS found
UNWIND found AS one
UNWIND found AS two
WITH c, one, two
WHERE one.id < two.id
CALL (c, one, two) {
  MATCH (one)<-[:PART_OF]-(:Passage)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(m:Concept)
  WHERE (link.counted OR link.weight IS NULL) AND m.id <> c.id AND m.passages > 1 AND m.passages <= 50 AND m.joins
  WITH DISTINCT two, m
  MATCH (m)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(:Passage)-[:PART_OF]->(d:Document)
  WHERE (link.counted OR link.weight IS NULL) AND d.id = two.id
  RETURN count(d) AS others
}
WITH c, one, two, others
WHERE others = 0
RETURN c.name AS bridge, one.title AS one, two.title AS other
ORDER BY bridge, one, other
LIMIT 100
