// The part of the graph that walks from some questions reach first, in one round trip: the passages nearest to each question, those that the seed names lead to
// (the names in the questions, and all in the best passages of each), and the names in all of these: Passage -NAMES-> Concept <-NAMES- Passage.
// $embeddings: of the questions; $keys: what may be names in them; $near: passages of the vector index; $best: of them, those whose names are seeds;
// $cap: passages of one name, those that it is the title of first; $scan: how many of a very common name are looked at; $limit: passages in all.
// $texts: passages near each question, and as many that its rare names lead to, whose texts come too: a walk finds most of its first among these.
// $scope, $open: as of `dense`; $spread: nodes of the index looked at for each that is wanted.
// $seen, $known: ids of seed names and of passages that an earlier one has brought; what is around these is there.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `total` passages of the memory; `near` a map a question with its nearest passages; `seeds`; `passages`, each [id, names, weights]; `frequent`, of names in more than one passage each [id, how many]; `aliases`, each [id, canonical]; `texts`.
// A node that another transaction removes meanwhile has null properties: a list has the null in its place, and the reader drops the entry.
// Runs once or twice an ask of `linked` or `fusion`, with a plan once a level, and once an ask of `ricr`.
UNWIND $embeddings AS embedding
CALL (embedding) {
  CALL db.index.vector.queryNodes('passage_embedding', toInteger(($near + 50) * $spread), embedding) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  WITH p, score
  ORDER BY score DESC, p.id
  LIMIT $near
  RETURN collect(p) AS nearest, collect(score) AS scores
}
WITH collect({ids: [p IN nearest | p.id], scores: scores}) AS near, collect(nearest) AS lists
CALL (lists) {
  UNWIND lists AS nearest
  UNWIND nearest[0..$best] AS p
  MATCH (p)-[:NAMES]->(:Concept)-[:ALIAS_OF*0..2]-(c:Concept)
  RETURN collect(DISTINCT c) AS held
}
CALL () {
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  RETURN collect(DISTINCT c) AS named
}
CALL (held, named) {
  UNWIND named + held AS c
  WITH DISTINCT c
  WHERE NOT c.id IN $seen
  CALL (c) {
    MATCH (c)<-[n:NAMES]-(p:Passage)
    WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
    WITH n, p LIMIT $scan
    RETURN p, n.title AS title
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
  OPTIONAL MATCH (p)-[n:NAMES]->(c:Concept)
  WITH p, collect(c) AS concepts, collect(n) AS edges
  RETURN collect([p.id, [c IN concepts | c.id], [n IN edges | n.weight]]) AS passages, collect(concepts) AS all
}
CALL (all) {
  UNWIND all AS some
  UNWIND some AS c
  WITH DISTINCT c
  WITH c, CASE WHEN $scope IS NULL THEN COUNT { (c)<-[:NAMES]-() } ELSE COUNT { MATCH (c)<-[:NAMES]-(q:Passage) WHERE coalesce($scope[q.id], $open) } END AS places
  RETURN collect(c) AS concepts, collect(CASE WHEN places > 1 THEN [c.id, places] END) AS frequent
}
CALL (concepts) {
  UNWIND concepts AS c
  MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
  RETURN collect([c.id, canonical.id]) AS aliases
}
CALL (lists, named) {
  CALL (lists, named) {
    UNWIND lists AS nearest
    UNWIND nearest[0..$texts] AS p
    RETURN p
    UNION
    UNWIND named AS c
    WITH c, CASE WHEN $scope IS NULL THEN COUNT { (c)<-[:NAMES]-() } ELSE COUNT { MATCH (c)<-[:NAMES]-(q:Passage) WHERE coalesce($scope[q.id], $open) } END AS places
    WHERE places <= $cap
    MATCH (c)<-[n:NAMES]-(p:Passage)
    WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
    WITH p, sum(n.weight / sqrt(places)) AS weight
    ORDER BY weight DESC, p.id
    LIMIT $texts
    RETURN p
  }
  MATCH (p)-[:PART_OF]->(d:Document {status: 'ready'})
  RETURN collect({id: p.id, title: CASE p.title WHEN '' THEN d.title ELSE p.title END, text: p.text, source: d.source, document: d.id, section: p.section, speaker: p.speaker, at: p.at}) AS texts
}
RETURN CASE WHEN $scope IS NULL THEN COUNT { MATCH (:Passage) } WHEN $open THEN COUNT { MATCH (:Passage) } - size(keys($scope)) ELSE size(keys($scope)) END AS total, near, seeds, passages, frequent, aliases, texts
