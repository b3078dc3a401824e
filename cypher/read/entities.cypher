// Entities whose name, roles or states have the words of some questions. $words: of each question, word characters only, as of the full-text index; $most: entities of each.
// One row for each of them, the best first: `words` of its question, id, name, description and the passages it is in. Runs once a hop of a `ricr` whose names are of one document each.
UNWIND $words AS words
CALL (words) {
  CALL db.index.fulltext.queryNodes('entity_text', words, {limit: toInteger($most)}) YIELD node AS e, score
  MATCH (e)-[:IN]->(p:Passage)
  RETURN e.id AS id, e.name AS name, coalesce(e.description, '') AS description, score, collect(p.id) AS passages
}
RETURN words, id, name, description, passages
ORDER BY words, score DESC, id
