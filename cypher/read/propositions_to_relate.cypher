// Propositions of some passages with what an edge is made of: the relation of a triple, and the names it mentions.
// $passages. One row a proposition; `about`: [name, concept, role]. Runs once a batch of runs.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(f:Proposition)
MATCH (f)-[m:MENTIONS]->(e:Entity)
MATCH (e)-[:REFERS_TO]->(c:Concept)
WITH p, f, collect(DISTINCT [e.name, c.id, m.role]) AS about
RETURN p.id AS passage, f.id AS id, f.text AS text, f.relation AS relation, about
