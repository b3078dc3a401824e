// What was found in each document, the poorest first: names, verb phrases, pairs, facts.
// `empty`: passages in which nothing was found.
// $source: a part of the source or the title
WITH '' AS source
MATCH (d:Document)
WHERE d.source CONTAINS source OR toLower(d.title) CONTAINS toLower(source)
MATCH (d)<-[:PART_OF]-(p:Passage)
WITH d, p, COUNT { (p)<-[:IN]-() } + COUNT { MATCH (p)-[n:NAMES]->() WHERE n.counted } AS found
WITH d, collect(p) AS passages, sum(found) AS found, sum(CASE found WHEN 0 THEN 1 ELSE 0 END) AS empty
WITH d, passages, found, empty ORDER BY toFloat(found) / size(passages), d.source
LIMIT 100
CALL (passages) {
  UNWIND passages AS p
  RETURN sum(COUNT { (p)<-[:IN]-(:Entity) } + COUNT { MATCH (p)-[n:NAMES]->() WHERE n.counted }) AS names, sum(COUNT { (p)<-[:IN]-(:VerbPhrase) }) AS phrases, sum(COUNT { (p)<-[:IN]-(:QAPair) }) AS pairs,
    sum(COUNT { (p)<-[:IN]-(:Proposition) }) AS facts
}
RETURN d.title AS title, size(passages) AS passages, empty, names, phrases, pairs, facts, d.extractor AS extractor, d.source AS source
ORDER BY toFloat(found) / passages, source
LIMIT 100
