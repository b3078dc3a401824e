// The part of the name graph that walks from some questions reach first, in one round trip: the passages nearest to each question, those of its seed names
// (the ones in the question, and all in its best passages), and the names in all of these.
// $questions: [{embedding, keys}], keys what may be names in the question; $near: passages of the vector index; $best: of them, those whose names are seeds;
// $cap: passages of one name, those that it is the title of first; $scan: how many of a very common name are looked at; $limit: passages of a question in all.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `asked` a map a question with its nearest passages; then each passage once and each name once, as lists side by side.
// Runs once or twice an ask of `linked` or `fusion`, with a plan once a level, on a memory too large to keep in the client.
UNWIND $questions AS question
CALL (question) {
  CALL db.index.vector.queryNodes('passage_embedding', $near + 50, question.embedding) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  WITH p, score
  ORDER BY score DESC, p.id
  LIMIT $near
  RETURN collect(p) AS near, collect(score) AS scores
}
CALL (question, near) {
  UNWIND near[0..$best] AS p
  MATCH (p)<-[:IN]-(e:Entity)-[:REFERS_TO]->(:Concept)-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE e.from IS NULL
  RETURN collect(DISTINCT c) AS held
}
CALL (question) {
  UNWIND question.keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  RETURN collect(DISTINCT c) AS named
}
CALL (held, named) {
  UNWIND named + held AS c
  WITH DISTINCT c
  CALL (c) {
    MATCH (c)<-[:REFERS_TO]-(e:Entity)
    WITH e
    LIMIT $scan
    MATCH (e)-[i:IN]->(p:Passage)
    RETURN p, i.title AS title
    ORDER BY title DESC, p.id
    LIMIT $cap
  }
  RETURN collect(DISTINCT p) AS theirs
}
WITH collect({ids: [p IN near | p.id], scores: scores}) AS asked, collect((near + theirs)[0..$limit]) AS lists
CALL (lists) {
  UNWIND lists AS some
  UNWIND some AS p
  WITH DISTINCT p
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  OPTIONAL MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
  WHERE e.from IS NULL
  WITH p, collect(c) AS concepts, collect(c.id) AS names, collect(i.title) AS titles
  RETURN collect(p.id) AS ids, collect(names) AS names, collect(titles) AS titles, collect(concepts) AS held
}
CALL (held) {
  UNWIND held AS some
  UNWIND some AS c
  WITH DISTINCT c
  OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
  RETURN collect(c.id) AS known, collect(coalesce(canonical.id, c.id)) AS canonicals, collect(c.passages) AS frequencies
}
RETURN asked, ids, names, titles, known, canonicals, frequencies
