// Passages with a date that lies within bounds, of those nearest to a question and those of its names.
// $embedding; $keys: what may be names in the question; $bounds: {from_least, from_most, to_least, to_most} as ISO days, inclusive: of an interval's first day (from) and of
// its last (to). "Before D": to_most the day before D; "after": from_least the day after; "between": from_least and to_most; "during": from_most its last day, to_least its
// first. $near: passages of the vector index; $common: a name that occurs in more passages (of the scope) than this brings none; $scope, $open, $spread: as of `dense`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row a passage, `first` the first day of its earliest such date. Runs once a search of `pathwise` in the order of time.
CALL () {
  CALL db.index.vector.queryNodes('passage_embedding', toInteger(($near + 50) * $spread), $embedding) YIELD node AS p, score
  WITH p, score
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  RETURN p
  ORDER BY score DESC, p.id
  LIMIT $near
  UNION
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE c.passages <= $common OR ($scope IS NOT NULL AND COUNT { MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) } <= $common)
  MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)
  WHERE link.counted OR link.weight IS NULL
  RETURN p
}
WITH DISTINCT p
MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
MATCH (p)<-[:IN]-(e:Entity)
WHERE e.from >= $bounds.from_least AND e.from <= $bounds.from_most AND e.to >= $bounds.to_least AND e.to <= $bounds.to_most
RETURN p.id AS id, min(e.from) AS first
ORDER BY id
