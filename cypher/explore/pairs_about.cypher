// What the memory says of one name, in any document: the question-answer pairs about it. Put in your own name, in normal form (lower case, no article).
// Browser draws the name, the pairs and what answers them.
MATCH path = (c:Concept {id: 'ilse tarn'})<-[:REFERS_TO]-(:Entity)<-[:ABOUT]-(q:QAPair)-[:ANSWERED_BY]->(:Entity)
RETURN q.question AS question, q.answer AS answer, path
ORDER BY question
LIMIT 100
