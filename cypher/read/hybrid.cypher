// Passages nearest to a question and those with most of its words, each with both scores. $embedding; $words: as of `bm25`, may be empty; $k: of each kind; $most: passages with its words of which the
// score is looked at; $scope, $open, $spread: as of `dense`; $most grows with $spread.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row a passage: its packed vector (store/rows.py), `lexical` the score of the full-text index, 0 without any of the words. Runs once a search of `pathwise` by both.
CALL () {
  CALL db.index.vector.queryNodes('passage_embedding', toInteger(($k + 50) * $spread), $embedding) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  RETURN p
  ORDER BY score DESC, p.id
  LIMIT $k
  UNION
  UNWIND CASE WHEN $words = '' THEN [] ELSE [$words] END AS words
  CALL db.index.fulltext.queryNodes('passage_text', words, {limit: toInteger($k * $spread)}) YIELD node AS p, score
  MATCH (p)-[:PART_OF]->(d:Document {status: 'ready'})
  WHERE $scope IS NULL OR coalesce($scope[p.id], $open)
  RETURN p
  ORDER BY round(score * 10000) DESC, p.title, p.text, p.id
  LIMIT $k
}
WITH collect(p) AS found, collect(p.id) AS ids
CALL (ids) {
  UNWIND CASE WHEN $words = '' THEN [] ELSE [$words] END AS words
  CALL db.index.fulltext.queryNodes('passage_text', words, {limit: toInteger($most * $spread)}) YIELD node AS p, score
  WITH p, score
  WHERE p.id IN ids
  RETURN collect({id: p.id, score: score}) AS worded
}
UNWIND found AS p
MATCH (p)-[:PART_OF]->(d:Document)
RETURN p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section, p.speaker AS speaker, p.at AS at,
  p.vector AS vector, coalesce(head([x IN worded WHERE x.id = p.id | x.score]), 0.0) AS lexical
ORDER BY id
