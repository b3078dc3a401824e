// Runs of edges that may answer a question: those that are based on the pairs and propositions nearest to it and its lines, on those about its names, and in passages that earlier answers cite.
// $embeddings: of the question and its lines; $near: statements of each vector index; $keys: what may be names in it; $common: a name that occurs in more passages brings none;
// $cited: ids of passages; $most: runs; $scope, $open, $spread: as of `dense`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `complete`, whether all passages have their runs; `edges` a list a statement that an edge is based on: run, number, position, subject, relation, object, statement, passage, packed vector
// (store/rows.py); `concepts`: id, canonical id, name, packed vector, passages; `relations`: name, packed vector. Runs once an ask of `pruned`.
CALL () {
  UNWIND $embeddings AS embedding
  CALL (embedding) {
    CALL db.index.vector.queryNodes('qa_pair_embedding', toInteger(($near + 50) * $spread), embedding) YIELD node AS x, score
    WITH x, score
    WHERE ($scope IS NULL OR EXISTS { MATCH (x)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
    RETURN x, score
    ORDER BY score DESC, x.id
    LIMIT $near
    UNION ALL
    CALL db.index.vector.queryNodes('proposition_embedding', toInteger(($near + 50) * $spread), embedding) YIELD node AS x, score
    WITH x, score
    WHERE ($scope IS NULL OR EXISTS { MATCH (x)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
    RETURN x, score
    ORDER BY score DESC, x.id
    LIMIT $near
  }
  RETURN x, score
  UNION ALL
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE (c.passages <= $common OR ($scope IS NOT NULL AND COUNT { MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) } <= $common))
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:ABOUT|ANSWERED_BY|MENTIONS]-(x)
  WHERE (x:QAPair OR x:Proposition) AND ($scope IS NULL OR EXISTS { MATCH (x)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  RETURN x, 1.0 AS score
  UNION ALL
  UNWIND $cited AS id
  MATCH (:Passage {id: id})<-[:IN]-(x)
  WHERE (x:QAPair OR x:Proposition) AND ($scope IS NULL OR coalesce($scope[id], $open))
  RETURN x, 2.0 AS score
}
WITH x, max(score) AS score
MATCH (x)<-[:HOLDS]-(r:Run)
WITH r, max(score) AS score
ORDER BY score DESC, r.id
LIMIT $most
MATCH (r)-[h:HOLDS]->(y)-[:RELATES_BY]->(l:Relation)
MATCH (y)-[:IN]->(p:Passage)-[:PART_OF]->(:Document {status: 'ready'})
WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
WITH collect([r.id, h.number, h.position, h.subject, l.name, h.object, y.id, p.id, y.vector]) AS edges,
  collect(DISTINCT l) AS kinds, collect(h.subject) + collect(h.object) AS ends
CALL (ends) {
  UNWIND ends AS id
  WITH DISTINCT id
  MATCH (c:Concept {id: id})
  OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
  WITH c, coalesce(canonical, c) AS shown, coalesce(canonical.vector, c.vector) AS vector
  RETURN collect([c.id, shown.id, shown.name, vector, CASE WHEN $scope IS NULL THEN shown.passages
    ELSE COUNT { MATCH (shown)<-[:ALIAS_OF*0..1]-(:Concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) RETURN DISTINCT p } END]) AS concepts
}
MATCH (m:Memory {id: 'memory'})
RETURN m.runs = m.version AS complete, edges, concepts, [l IN kinds | [l.name, l.vector]] AS relations
