// The names that occur in most passages, and in how many documents.
// Without dates, numbers and common words: what only begins sentences, and stands in small letters in a passage, is none of the names.
MATCH (c:Concept)
WITH c ORDER BY c.passages DESC, c.id LIMIT 5000
WHERE c.joins
WITH c ORDER BY c.passages DESC, c.id LIMIT 100
WITH c, ' ' + toLower(c.name) AS word
WHERE c.opens IS NULL OR NOT c.opens OR NOT EXISTS {
  MATCH (p:Passage)
  WHERE p.text CONTAINS word + ' ' OR p.text CONTAINS word + '.' OR p.text CONTAINS word + ','
}
WITH c ORDER BY c.passages DESC, c.id
LIMIT 25
CALL (c) {
  MATCH (c)<-[:REFERS_TO]-(:Entity)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
  RETURN d
  UNION
  MATCH (c)<-[n:NAMES]-(:Passage)-[:PART_OF]->(d:Document)
  WHERE n.counted
  RETURN d
}
RETURN c.name AS name, c.passages AS passages, count(DISTINCT d) AS documents
ORDER BY passages DESC, name
LIMIT 25
