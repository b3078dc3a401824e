// A document with all that was found in it, a row a passage in their order. $id; $position: only this passage, null for all. Lists are in no order.
// `opens`: of a word that only begins sentences in all documents. A role of an entity without any is null, and so is a question of a phrase without. Runs once a `show`, and is streamed.
MATCH (d:Document {id: $id})<-[:PART_OF]-(p:Passage)
WHERE $position IS NULL OR p.position = $position
CALL (p) {
  MATCH (p)<-[i:IN]-(e:Entity)
  OPTIONAL MATCH (e)-[:REFERS_TO]->(c:Concept)
  OPTIONAL MATCH (e)-[plays:PLAYS]->(r:Role)
  WITH e, i, c, collect({role: r.name, states: plays.states}) AS roles
  RETURN collect({id: e.id, name: e.name, title: i.title, from: e.from, to: e.to, opens: e.opens AND c.opens, roles: roles}) AS entities
}
CALL (p) {
  MATCH (p)<-[:IN]-(v:VerbPhrase)
  OPTIONAL MATCH (v)-[:ASKS]->(q:QAPair)-[:IN]->(p)
  WITH v, collect({id: q.id, question: q.question, answers: q.answers}) AS pairs
  RETURN collect({id: v.id, phrase: v.phrase, pairs: pairs}) AS phrases
}
CALL (p) {
  MATCH (p)<-[:IN]-(f:Proposition)
  RETURN collect({id: f.id, text: f.text}) AS propositions
}
CALL (p) {
  MATCH (p)-[:NAMES]->(c:Concept)
  RETURN collect(c.id) AS names
}
CALL (p) {
  MATCH (p)-[n:NAMES]->(c:Concept)
  WHERE n.counted
  RETURN collect({id: c.id, name: n.name, title: n.title, from: null, to: null, opens: n.opens AND c.opens, roles: []}) AS bare
}
RETURN p.id AS id, p.position AS position, p.title AS title, p.text AS text, p.section AS section, names, entities + bare AS entities, phrases, propositions
ORDER BY position
