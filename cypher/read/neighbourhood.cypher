// The part of the name graph that a walk from the seeds reaches first, in one round trip: the passages nearest to the question, those of the seed names
// (the ones in the question, and all in the best passages), and the names in all of these.
// $embedding; $near: passages of the vector index; $best: of them, those whose names are seeds; $keys: what may be names in the question;
// $cap: passages of one name, those that it is the title of first; $scan: how many of a very common name are looked at. Runs once an ask of `linked` on a
// memory too large to keep in the client.
CALL db.index.vector.queryNodes('passage_embedding', $near, $embedding) YIELD node AS p, score
WITH p, score
ORDER BY score DESC, p.id
WITH collect({p: p, score: score}) AS near
CALL (near) {
  UNWIND near[0..$best] AS best
  WITH best.p AS p
  MATCH (p)<-[:IN]-(e:Entity)-[:REFERS_TO]->(:Concept)-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE e.from IS NULL
  RETURN c
  UNION
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  RETURN c
}
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(e:Entity)
  WITH e LIMIT $scan
  MATCH (e)-[i:IN]->(p:Passage)
  RETURN p, i.title AS title
  ORDER BY title DESC, p.id
  LIMIT $cap
}
WITH near, collect(DISTINCT {p: p, score: null}) AS theirs
UNWIND near + theirs AS place
WITH place.p AS p, max(place.score) AS score
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
OPTIONAL MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
WHERE e.from IS NULL
OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
WITH p, score, collect(c.id) AS names, collect(coalesce(canonical.id, c.id)) AS canonicals, collect(i.title) AS titles, collect(c.passages) AS frequencies
RETURN p.id AS id, score, names, canonicals, titles, frequencies
