// Facts that may answer a question of an agent: propositions and question-answer pairs, near it by their vectors, having its words or occurring in passages that do, or about its names.
// $embedding; $propositions, $pairs: nearest of each vector index, 0 for none of the kind; $words: for the full-text indexes, joined by spaces, word characters only but for a weight (`word^0.3`), may be empty;
// $lexical: propositions, $worded: passages of these, 0 for none;
// $keys: what may be names in the question; $common: a name that occurs in more passages than this brings none; $most: rows, the nearest first;
// $scope, $open, $spread: as of `dense`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row a fact with its passage: `answers` of pairs only, `lexical` the score of the full-text index, 0 for what came otherwise; `cosine` as the engine scales it. Runs once a round of an agent.
CALL () {
  CALL db.index.vector.queryNodes('proposition_embedding', toInteger(($propositions + 50) * $spread), $embedding) YIELD node AS fact, score
  WITH fact, score
  WHERE ($scope IS NULL OR EXISTS { MATCH (fact)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  RETURN fact, 0.0 AS lexical
  ORDER BY score DESC, fact.id
  LIMIT $propositions
  UNION ALL
  CALL db.index.vector.queryNodes('qa_pair_embedding', toInteger(($pairs + 50) * $spread), $embedding) YIELD node AS fact, score
  WITH fact, score
  WHERE ($scope IS NULL OR EXISTS { MATCH (fact)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  RETURN fact, 0.0 AS lexical
  ORDER BY score DESC, fact.id
  LIMIT $pairs
  UNION ALL
  UNWIND CASE WHEN $words = '' OR $lexical = 0 THEN [] ELSE [$words] END AS words
  CALL db.index.fulltext.queryNodes('proposition_text', words, {limit: toInteger($lexical * $spread)}) YIELD node AS fact, score
  WITH fact, score
  WHERE ($scope IS NULL OR EXISTS { MATCH (fact)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  RETURN fact, toFloat(score) AS lexical
  ORDER BY lexical DESC, fact.id
  LIMIT $lexical
  UNION ALL
  UNWIND CASE WHEN $words = '' OR $worded = 0 THEN [] ELSE [$words] END AS words
  CALL db.index.fulltext.queryNodes('passage_text', words, {limit: toInteger($worded * $spread)}) YIELD node AS place, score
  WITH place, score
  WHERE $scope IS NULL OR coalesce($scope[place.id], $open)
  ORDER BY score DESC, place.id
  LIMIT $worded
  MATCH (place)<-[:IN]-(fact)
  WHERE fact:Proposition OR fact:QAPair
  RETURN fact, 0.0 AS lexical
  UNION ALL
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE (c.passages <= $common OR ($scope IS NOT NULL AND COUNT { MATCH (c)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage) WHERE (link.counted OR link.weight IS NULL) AND coalesce($scope[p.id], $open) } <= $common))
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS|ABOUT]-(fact)
  RETURN fact, 0.0 AS lexical
}
WITH fact, max(lexical) AS lexical
WHERE (fact:Proposition AND $propositions > 0) OR (fact:QAPair AND $pairs > 0 AND size(fact.answers) > 0)
WITH fact, lexical
WHERE ($scope IS NULL OR EXISTS { MATCH (fact)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
WITH fact, lexical, vector.similarity.cosine(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact.id
LIMIT $most
MATCH (fact)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN fact.id AS fact, coalesce(fact.text, fact.question) AS fact_text, fact.answers AS answers, lexical, cosine,
  p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document
ORDER BY cosine DESC, fact
