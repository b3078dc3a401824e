// What the memory says about a name: the question-answer pairs that ask about it, in any document.
// Of a name in more than 500 documents, 500 are looked at.
// $concept: a name; without one, the name (no date, number or common word) that occurs in most passages
WITH null AS concept
CALL (concept) {
  MATCH (c:Concept {id: toLower(concept)})
  RETURN c
  UNION
  MATCH (c:Concept)
  WHERE concept IS NULL
  WITH c ORDER BY c.passages DESC, c.id LIMIT 500
  RETURN c ORDER BY NOT c.joins, c.passages DESC, c.id LIMIT 1
}
MATCH (c)<-[:REFERS_TO]-(x:Entity)
WITH c, x LIMIT 500
MATCH path = (c)<-[:REFERS_TO]-(x)<-[:ABOUT]-(q:QAPair)-[:IN]->(p:Passage)
RETURN DISTINCT c.name AS name, q.question AS question, q.answer AS answer, p.title AS title
  , collect(path) AS drawing
ORDER BY question, answer, title
LIMIT 200
