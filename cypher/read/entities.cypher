// Entities whose name, roles or states have the words of some questions. $words: of each question, word characters only, as of the full-text index; $most: entities of each; $scope, $open, $spread: as of `dense`.
// One row for each of them, the best first: `words` of its question, id, name and description. Runs once a hop of a `ricr` whose names are of one document each.
UNWIND $words AS words
CALL (words) {
  CALL db.index.fulltext.queryNodes('entity_text', words, {limit: toInteger($most * $spread)}) YIELD node AS e, score
  WITH e, score
  WHERE EXISTS { MATCH (e)-[:IN]->(p:Passage)-[:PART_OF]->(:Document {status: 'ready'}) WHERE $scope IS NULL OR coalesce($scope[p.id], $open) }
  ORDER BY score DESC, e.id
  LIMIT $most
  RETURN e.id AS id, e.name AS name, coalesce(e.description, '') AS description, score
}
RETURN words, id, name, description
ORDER BY words, score DESC, id
