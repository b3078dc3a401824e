// What is loaded: each document with its passages, names, pairs and facts, the latest first.
// $source: a part of the source or the title
WITH '' AS source
MATCH (d:Document)
WHERE d.source CONTAINS source OR toLower(d.title) CONTAINS toLower(source)
WITH d ORDER BY d.loaded_at DESC, d.source
LIMIT 500
CALL (d) {
  MATCH (d)<-[:PART_OF]-(p:Passage)
  RETURN count(p) AS passages, sum(COUNT { (p)<-[:IN]-(:Entity) } + COUNT { MATCH (p)-[n:NAMES]->() WHERE n.counted }) AS names, sum(COUNT { (p)<-[:IN]-(:QAPair) }) AS pairs,
    sum(COUNT { (p)<-[:IN]-(:Proposition) }) AS facts
}
RETURN d.title AS title, passages, names, pairs, facts, replace(left(d.loaded_at, 16), 'T', ' ') AS loaded, d.extractor AS extractor, d.source AS source
ORDER BY loaded DESC, source
LIMIT 500
