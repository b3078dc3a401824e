// What people say of the answer to a question. $id; $verdict: 'confirmed' or 'rejected'; $now. The same said twice changes nothing. Runs once a `confirm` or `reject`.
MATCH (q:Question {id: $id})
SET q.judged_at = CASE WHEN q.verdict = $verdict THEN q.judged_at ELSE $now END, q.verdict = $verdict
RETURN q.verdict AS verdict
