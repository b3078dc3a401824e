// The part of the graph of propositions around a question, in one round trip: the passages and propositions nearest to it, the passages whose propositions mention
// a concept of these, and all propositions of these passages with the concepts that they mention; $cap and $limit of 0 for the nearest alone.
// $embedding; $near, $facts: passages and propositions of the vector indexes; $cap: propositions of one concept; $limit: passages; $scope, $open, $spread: as of `dense`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `near`, `facts`: {ids, scores}; `passages`, each [id, propositions, mentions], the last two a list each. Runs once an ask of `proprag`.
CALL () {
  CALL db.index.vector.queryNodes('passage_embedding', toInteger(($near + 50) * $spread), $embedding) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  WITH p, score
  ORDER BY score DESC, p.id
  LIMIT $near
  RETURN collect(p) AS nearest, {ids: [p IN collect(p) | p.id], scores: collect(score)} AS near
}
CALL () {
  CALL db.index.vector.queryNodes('proposition_embedding', toInteger(($facts + 50) * $spread), $embedding) YIELD node AS f, score
  MATCH (f)-[:IN]->(p:Passage)-[:PART_OF]->(:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  WITH f, score
  ORDER BY score DESC, f.id
  LIMIT $facts
  RETURN collect(f) AS found, {ids: [f IN collect(f) | f.id], scores: collect(score)} AS facts
}
CALL (found) {
  UNWIND found AS f
  MATCH (f)-[:MENTIONS]->(:Entity)-[:REFERS_TO]->(:Concept)-[:ALIAS_OF*0..2]-(c:Concept)
  WITH DISTINCT c
  CALL (c) {
    MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS]-(other:Proposition)
    WHERE ($scope IS NULL OR EXISTS { MATCH (other)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
    RETURN other ORDER BY other.id LIMIT $cap
  }
  MATCH (other)-[:IN]->(p:Passage)
  RETURN collect(DISTINCT p) AS theirs
}
CALL (nearest, found, theirs) {
  CALL (found) {
    UNWIND found AS f
    MATCH (f)-[:IN]->(p:Passage)
    RETURN collect(DISTINCT p) AS own
  }
  UNWIND own + nearest + theirs AS p
  WITH DISTINCT p
  LIMIT $limit
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  OPTIONAL MATCH (p)<-[:IN]-(f:Proposition)
  OPTIONAL MATCH (f)-[:MENTIONS]->(:Entity)-[:REFERS_TO]->(c:Concept)
  OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
  WITH p, f, collect(DISTINCT coalesce(canonical.id, c.id)) AS mentioned
  WITH p, collect(CASE WHEN f IS NULL THEN null ELSE {id: f.id, mentions: mentioned} END) AS about
  RETURN collect([p.id, [fact IN about | fact.id], [fact IN about | fact.mentions]]) AS passages
}
RETURN near, facts, passages
