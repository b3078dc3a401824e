// Chains of two pairs from one name: a pair about it, and a pair about what answers that, in any document. Put in your own name, in normal form.
MATCH path = (:Concept {id: 'marrow bridge'})<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(first:QAPair)-[:ANSWERED_BY]->(:Entity)
  -[:REFERS_TO]->(between:Concept)<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(second:QAPair)
WHERE between.id <> 'marrow bridge' AND first.id <> second.id
RETURN DISTINCT first.question AS first, first.answer AS answer, second.question AS second, second.answer AS then, path
ORDER BY first, second
LIMIT 100
