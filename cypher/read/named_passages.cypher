// All passages with their names and the roles of these, a row a passage; dates are no names. What `merge` reads of a memory.
// A role of a name without any is null. Runs once a merge, and is streamed.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
CALL (p) {
  MATCH (p)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)
  WHERE e.from IS NULL
  OPTIONAL MATCH (e)-[plays:PLAYS]->(r:Role)
  WITH e, c, i, collect({role: r.name, states: plays.states}) AS roles
  RETURN collect({key: c.id, name: e.name, title: i.title, roles: roles}) AS names
}
CALL (p) {
  MATCH (p)-[n:NAMES]->(c:Concept)
  WHERE n.counted
  RETURN collect({key: c.id, name: n.name, title: n.title, roles: []}) AS bare
}
RETURN d.id AS document, p.id AS id, p.text AS text, names + bare AS names
