// Pairs and propositions by their id, or by the question or text as it is written. $wanted. Runs for `correct`.
MATCH (x:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
WHERE x.id = $wanted OR x.question = $wanted
RETURN x.id AS id, x.question + ' ' + x.answer AS text, d.id AS document, d.source AS source
UNION
MATCH (x:Proposition)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)
WHERE x.id = $wanted OR x.text = $wanted
RETURN x.id AS id, x.text AS text, d.id AS document, d.source AS source
