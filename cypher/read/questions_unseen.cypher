// The latest $limit questions that were answered with citations before questions had vectors, with how many of their citations are there. Runs in migration 3.
MATCH (q:Question)-[u:USED]->(:Passage)
WHERE q.answer IS NOT NULL AND q.embedding IS NULL AND u.cited
WITH q, count(u) AS cited
ORDER BY q.asked_at DESC
LIMIT $limit
RETURN q.id AS id, q.question AS question, cited
