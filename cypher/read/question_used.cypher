// What the answer to a question used and is still there: passages by rank, then pairs by chain and hop. $id. Runs once a `history` of one question.
MATCH (q:Question {id: $id})-[u:USED]->(p:Passage)-[:PART_OF]->(d:Document)
RETURN 'passage' AS kind, u.rank AS rank, 0 AS hop, u.cited AS cited, p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, d.source AS source, p.text AS text, null AS answers
UNION ALL
MATCH (q:Question {id: $id})-[u:USED]->(x:QAPair)
RETURN 'pair' AS kind, u.rank AS rank, u.hop AS hop, false AS cited, x.id AS id, '' AS title, '' AS source, x.question AS text, x.answers AS answers
