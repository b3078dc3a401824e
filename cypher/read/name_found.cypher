// What was found of a concept and of those merged with it: its roles with their states, the pairs about it or that it answers, the facts that mention it; each in no order.
// $id; $limit of each. Of a concept in more than 500 documents, 500 are looked at. Runs once where a name is followed.
MATCH (c:Concept {id: $id})
CALL (c) {
  MATCH (c)-[:ALIAS_OF*0..2]-(:Concept)<-[:REFERS_TO]-(e:Entity)
  WITH DISTINCT e LIMIT 500
  RETURN collect(e) AS entities
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)-[plays:PLAYS]->(r:Role)
  WITH DISTINCT r.name AS role, plays.states AS states LIMIT $limit
  RETURN collect({role: role, states: states}) AS roles
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)<-[:ABOUT|ANSWERED_BY]-(q:QAPair)-[:IN]->(:Passage)
  WITH DISTINCT q ORDER BY q.id LIMIT $limit
  RETURN collect({id: q.id, question: q.question, answers: q.answers}) AS pairs
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)<-[:MENTIONS]-(f:Proposition)-[:IN]->(p:Passage)
  WITH DISTINCT f, p ORDER BY f.id LIMIT $limit
  RETURN collect({id: f.id, text: f.text, passage: p.id}) AS facts
}
RETURN c.name AS name, c.passages AS passages, roles, pairs, facts
