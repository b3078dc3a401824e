// Questions that texts leave open: pairs without an answer, which a further document may answer.
MATCH (q:QAPair)
WHERE size(q.answers) = 0
WITH q ORDER BY q.question
LIMIT 100
MATCH (q)-[:IN]->(p:Passage)
OPTIONAL MATCH (q)-[:ABOUT]->(e:Entity)
RETURN q.question AS question, collect(DISTINCT e.name) AS about, p.title AS title
ORDER BY question, title
LIMIT 100
