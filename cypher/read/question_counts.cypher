// How many questions were kept, and of how many people said that the answer is right or wrong; how many were answered from an earlier one. Runs for `status`.
MATCH (q:Question)
RETURN count(q) AS kept, sum(CASE WHEN q.verdict = 'confirmed' THEN 1 ELSE 0 END) AS confirmed, sum(CASE WHEN q.verdict = 'rejected' THEN 1 ELSE 0 END) AS rejected,
  sum(CASE WHEN EXISTS { (q)-[:REUSED]->(:Question) } THEN 1 ELSE 0 END) AS reused
