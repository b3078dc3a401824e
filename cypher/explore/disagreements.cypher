// The same question with different answers: where documents contradict or complete each other.
// An answer that holds the other ("Antwerp, Belgium" and "Antwerp") is no different one.
MATCH (q:QAPair)
WHERE q.answer <> ''
WITH toLower(q.question) AS asked, collect(q) AS found
WHERE size(found) > 1
WITH asked, found, [q IN found | toLower(q.answer)] AS said
WHERE any(one IN said WHERE any(two IN said WHERE NOT one CONTAINS two AND NOT two CONTAINS one))
UNWIND found AS q
WITH asked, q ORDER BY asked, q.answer, q.id
LIMIT 100
MATCH (q)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
WITH asked, min(q.question) AS question, q.answer AS answer, d.title AS document
RETURN question, answer, document
ORDER BY asked, answer, document
LIMIT 100
