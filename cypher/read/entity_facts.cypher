// Facts of a name, and the passages it occurs in: what an agent reads that follows the name.
// $key: the id of its concept; $embedding: of what the agent looks for; $scan: facts, and passages, of a very common name that are looked at; $most: rows of each, the nearest first; $scope, $open: as of `dense`.
// Columns as of `facts`; `fact` is null in the row of a passage itself. Runs once a round of an agent that follows a name.
CALL () {
  MATCH (:Concept {id: $key})-[:ALIAS_OF*0..2]-(:Concept)<-[:REFERS_TO]-(:Entity)<-[:MENTIONS|ABOUT|ANSWERED_BY]-(fact)
  WHERE (fact:Proposition OR size(fact.answers) > 0) AND ($scope IS NULL OR EXISTS { MATCH (fact)-[:IN]->(p:Passage) WHERE coalesce($scope[p.id], $open) })
  WITH DISTINCT fact LIMIT $scan
  WITH fact, vector.similarity.cosine(fact.embedding, $embedding) AS cosine
  ORDER BY cosine DESC, fact.id
  LIMIT $most
  MATCH (fact)-[:IN]->(p:Passage)
  RETURN fact.id AS fact, coalesce(fact.text, fact.question) AS fact_text, fact.answers AS answers, cosine, p
  UNION ALL
  MATCH (:Concept {id: $key})-[:ALIAS_OF*0..2]-(:Concept)<-[link:REFERS_TO|NAMES]-()-[:IN*0..1]->(p:Passage)
  WHERE (link.counted OR link.weight IS NULL) AND ($scope IS NULL OR coalesce($scope[p.id], $open))
  WITH DISTINCT p LIMIT $scan
  WITH p, vector.similarity.cosine(p.embedding, $embedding) AS cosine
  ORDER BY cosine DESC, p.id
  LIMIT $most
  RETURN null AS fact, null AS fact_text, null AS answers, cosine, p
}
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready'
RETURN fact, fact_text, answers, 0.0 AS lexical, cosine, p.id AS id, p.title AS title, p.text AS text, d.source AS source, d.id AS document
ORDER BY cosine DESC, fact, id
