// The part of the name graph that walks from some questions reach first, in one round trip: the passages nearest to each question, those of the seed names
// (the ones in the questions, and all in the best passages of each), and the names in all of these.
// $embeddings: of the questions; $keys: what may be names in them; $near: passages of the vector index; $best: of them, those whose names are seeds;
// $cap: passages of one name, those that it is the title of first; $scan: how many of a very common name are looked at; $limit: passages in all.
// $seen, $known: ids of seed names and of passages that an earlier one has brought; what is around these is there.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `asked` a map a question with its nearest passages; `seeds`; then each passage once and each name once, as lists side by side.
// Runs once or twice an ask of `linked` or `fusion`, with a plan once a level, on a memory too large to keep in the client.
UNWIND $embeddings AS embedding
CALL (embedding) {
  CALL db.index.vector.queryNodes('passage_embedding', $near + 50, embedding) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  WITH p, score
  ORDER BY score DESC, p.id
  LIMIT $near
  RETURN collect(p) AS near, collect(score) AS scores
}
WITH collect({ids: [p IN near | p.id], scores: scores}) AS asked, collect(near) AS lists
CALL (lists) {
  UNWIND lists AS near
  UNWIND near[0..$best] AS p
  MATCH (p)<-[:IN]-(e:Entity)-[:REFERS_TO]->(:Concept)-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE e.from IS NULL
  RETURN collect(DISTINCT c) AS held
}
CALL (lists) {
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  RETURN collect(DISTINCT c) AS named
}
CALL (held, named) {
  UNWIND named + held AS c
  WITH DISTINCT c
  WHERE NOT c.id IN $seen
  CALL (c) {
    MATCH (c)<-[:REFERS_TO]-(e:Entity)
    WITH e
    LIMIT $scan
    MATCH (e)-[i:IN]->(p:Passage)
    RETURN p, i.title AS title
    ORDER BY title DESC, p.id
    LIMIT $cap
  }
  RETURN collect(DISTINCT p) AS theirs, collect(DISTINCT c.id) AS seeds
}
CALL (lists, theirs) {
  UNWIND lists + [theirs] AS some
  UNWIND some AS p
  WITH DISTINCT p
  LIMIT $limit
  WHERE NOT p.id IN $known
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  OPTIONAL MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
  WHERE e.from IS NULL
  WITH p, collect(c) AS concepts, collect(c.id) AS names, collect(i.title) AS titles
  RETURN collect(p.id) AS ids, collect(names) AS names, collect(titles) AS titles, collect(concepts) AS all
}
CALL (all) {
  UNWIND all AS some
  UNWIND some AS c
  WITH DISTINCT c
  OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
  RETURN collect(c.id) AS concepts, collect(coalesce(canonical.id, c.id)) AS canonicals, collect(c.passages) AS frequencies
}
RETURN asked, seeds, ids, names, titles, concepts, canonicals, frequencies
