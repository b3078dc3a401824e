// How many documents since 2019 has each author? (A key of metadata is author.)
// {"since": "2019"}
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage {position: 0})
WHERE d.about >= $since AND d.meta_author IS NOT NULL
UNWIND [] + d.meta_author AS author
RETURN author, count(DISTINCT d) AS documents, collect(DISTINCT p.id) AS evidence
ORDER BY documents DESC, author
LIMIT 100
