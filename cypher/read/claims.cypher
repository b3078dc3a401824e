// What the pairs of some passages say, and about which concepts. $passages: ids. One row a pair. Runs once an ask of `pathwise` where the memory holds pairs.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(pair:QAPair)-[:ABOUT]->(:Entity)-[:REFERS_TO]->(c:Concept)
WHERE size(pair.answers) > 0
RETURN pair.id AS id, pair.question AS question, pair.answers AS answers, p.id AS passage, collect(DISTINCT c.id) AS about
ORDER BY id
