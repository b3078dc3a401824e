// One hop of the chains: the pairs that may answer some concrete questions, with the ways they came. All sub-questions of a level and all beams in one round trip.
// $questions: [{embedding, words, entities, keys, passages}], words for the full-text index, ids of entities, keys what may be names in the question, passages ids whose pairs are wanted;
// $pairs: nearest of the vector index;
// $scope, $open, $spread: as of `dense`;
// $entities: names of the full-text index, equal ones of several documents being one; $common: a name that occurs in more passages than this brings no pairs (the vectors find those
// that matter), so that what a hop costs is bounded; with a scope, in more passages of it.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row: `candidates` a map a question with the ids of its pairs by way; then `pairs`, each once: [id, question, answers, roles, passage, title, its vector, its verb phrase's, its passage's].
// Vectors are packed (store/rows.py). A node that another transaction removes meanwhile has null properties, and the reader drops its entry.
UNWIND $questions AS question
CALL (question) {
  CALL db.index.vector.queryNodes('qa_pair_embedding', toInteger(($pairs + 50) * $spread), question.embedding) YIELD node AS pair, score
  WITH pair, score
  WHERE $scope IS NULL OR EXISTS { MATCH (pair)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) }
  ORDER BY score DESC, pair.id
  LIMIT $pairs
  RETURN collect(pair) AS near
}
CALL (question) {
  UNWIND CASE WHEN question.words = '' THEN [] ELSE [question.words] END AS words
  CALL db.index.fulltext.queryNodes('entity_text', words, {limit: toInteger($entities * 10 * $spread)}) YIELD node AS e, score
  MATCH (e)-[:REFERS_TO]->(c:Concept)
  WHERE (c.passages <= $common OR ($scope IS NOT NULL AND COUNT { MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) } <= $common)) AND ($scope IS NULL OR EXISTS { MATCH (e)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  WITH c, max(score) AS score, collect(e) AS written
  ORDER BY score DESC, c.id
  LIMIT $entities
  UNWIND written AS e
  MATCH (e)<-[:ANSWERED_BY|ABOUT]-(pair:QAPair)
  RETURN collect(DISTINCT pair) AS worded
}
CALL (question) {
  UNWIND question.entities AS id
  MATCH (e:Entity {id: id})<-[:ANSWERED_BY|ABOUT]-(pair:QAPair)
  RETURN collect(DISTINCT pair) AS known
}
CALL (question) {
  UNWIND question.keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE c.passages <= $common OR ($scope IS NOT NULL AND COUNT { MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) } <= $common)
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(pair:QAPair)
  RETURN collect(DISTINCT pair) AS named
}
CALL (question) {
  UNWIND question.passages AS id
  MATCH (:Passage {id: id})<-[:IN]-(pair:QAPair)
  RETURN collect(pair) AS walked
}
WITH collect({vector: [x IN near | x.id], words: [x IN worded + known | x.id], name: [x IN named | x.id], walk: [x IN walked | x.id]}) AS candidates,
  collect(near + worded + known + named + walked) AS lists
CALL (lists) {
  UNWIND lists AS pairs
  UNWIND pairs AS pair
  WITH DISTINCT pair
  MATCH (pair)-[:IN]->(p:Passage)-[:PART_OF]->(:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  MATCH (pair)<-[:ASKS]-(v:VerbPhrase)
  OPTIONAL MATCH (pair)-[:ANSWERED_BY]->(e:Entity)
  WITH pair, p, v, collect(e.description) AS roles
  RETURN collect([pair.id, pair.question, pair.answers, roles, p.id, p.title, pair.vector, v.vector, p.vector]) AS pairs
}
RETURN candidates, pairs
