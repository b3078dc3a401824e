// Pairs of some passages with what an edge is made of: the verb phrase, what each is about, and those of its answers that are entities.
// $passages. One row a pair; `about` and `answers`: [name, concept]. Runs once a batch of runs.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(q:QAPair)<-[:ASKS]-(v:VerbPhrase)
MATCH (q)-[:ABOUT]->(e:Entity)-[:REFERS_TO]->(c:Concept)
WITH p, q, v, collect(DISTINCT [e.name, c.id]) AS about
MATCH (q)-[:ANSWERED_BY]->(e:Entity)-[:REFERS_TO]->(c:Concept)
WITH p, q, v, about, collect(DISTINCT [e.name, c.id]) AS answers
RETURN p.id AS passage, q.id AS id, v.phrase AS relation, about, answers
