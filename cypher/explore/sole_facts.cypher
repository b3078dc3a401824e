// Facts that a single document asserts about names that occur in several passages.
// A fact is a question-answer pair; no other document joins its answer to the name. Of a name in more than 500 documents, 500 are looked at.
// $concept: a name; without one, the names that occur in most passages
// $names: how many of those
WITH null AS concept, 50 AS names
CALL (concept, names) {
  MATCH (c:Concept {id: toLower(concept)})
  RETURN c
  UNION
  MATCH (c:Concept)
  WHERE concept IS NULL AND c.passages > 1 AND c.joins
  WITH c, names ORDER BY c.passages DESC, c.id LIMIT 1000
  WITH names, collect(c) AS found
  UNWIND found[..names] AS c
  RETURN c
}
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(x:Entity)
  RETURN x LIMIT 500
}
MATCH (x)<-[:ABOUT]-(q:QAPair)-[:ANSWERED_BY]->(:Entity)-[:REFERS_TO]->(a:Concept)
WHERE a.id <> c.id
MATCH (q)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
WITH c, a, collect(DISTINCT d.title) AS documents, min(q.question) AS question, count(DISTINCT q) AS pairs
WHERE size(documents) = 1
RETURN c.name AS name, c.passages AS passages, a.name AS answer, question, pairs, documents[0] AS document
ORDER BY passages DESC, name, question, answer
LIMIT 100
