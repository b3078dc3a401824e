// What the pairs of some passages say, and about which concepts. $passages: ids. One row a pair. Runs once an ask of `pathwise` where the memory holds pairs.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(pair:QAPair)-[:ABOUT]->(:Entity)-[:REFERS_TO]->(named:Concept)
WHERE size(pair.answers) > 0
OPTIONAL MATCH (named)-[:ALIAS_OF]->(canonical:Concept)
RETURN pair.id AS id, pair.question AS question, pair.answers AS answers, p.id AS passage, collect(DISTINCT coalesce(canonical.id, named.id)) AS about
ORDER BY id
