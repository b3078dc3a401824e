// What people said of answers, the latest first, and how often each was used again.
// Answers without a verdict are shown only where they were used for another question.
MATCH (q:Question)
WHERE q.answer IS NOT NULL
OPTIONAL MATCH (later:Question)-[:REUSED]->(q)
WITH q, count(later) AS reused
WHERE q.verdict IS NOT NULL OR reused > 0
RETURN q.question AS question, q.answer AS answer, q.verdict AS verdict, reused, replace(left(q.asked_at, 16), 'T', ' ') AS asked
ORDER BY asked DESC, question
LIMIT 25
