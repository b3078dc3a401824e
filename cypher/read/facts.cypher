// Facts that may answer a question of an agent: propositions and question-answer pairs, near it by their vectors, standing in passages with its words, or about its names.
// $embedding; $near: nearest of each vector index; $words: for the full-text index, joined by spaces, word characters only, may be empty; $worded: passages of that;
// $keys: what may be names in the question; $common: a name that stands in more passages than this brings none; $most: rows, the nearest first.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row a fact with its passage: `answers` of pairs only, `by_words` whether its passage has the words; `cosine` as the engine scales it. Runs once a round of an agent.
CALL () {
  CALL db.index.vector.queryNodes('proposition_embedding', $near + 50, $embedding) YIELD node AS fact, score
  RETURN fact, false AS by_words
  ORDER BY score DESC, fact.id
  LIMIT $near
  UNION ALL
  CALL db.index.vector.queryNodes('qa_pair_embedding', $near + 50, $embedding) YIELD node AS fact, score
  RETURN fact, false AS by_words
  ORDER BY score DESC, fact.id
  LIMIT $near
  UNION ALL
  UNWIND CASE WHEN $words = '' THEN [] ELSE [$words] END AS words
  CALL db.index.fulltext.queryNodes('passage_text', words, {limit: $worded}) YIELD node AS place
  MATCH (place)<-[:IN]-(fact)
  WHERE fact:Proposition OR fact:QAPair
  RETURN fact, true AS by_words
  UNION ALL
  UNWIND $keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE c.passages <= $common
  MATCH (c)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS|ABOUT]-(fact)
  RETURN fact, false AS by_words
}
WITH fact, max(by_words) AS by_words
WHERE fact:Proposition OR size(fact.answers) > 0
WITH fact, by_words, vector.similarity.cosine(fact.embedding, $embedding) AS cosine
ORDER BY cosine DESC, fact.id
LIMIT $most
MATCH (fact)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN fact.id AS fact, coalesce(fact.text, fact.question) AS fact_text, fact.answers AS answers, by_words, cosine,
  p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document
ORDER BY cosine DESC, fact
