// Who plays a role, with the states of each in the order of time.
// `first` and `last` are the earliest and the latest day of the passage that says so.
// $role: a role, as `roles` lists them; without one, the role that most play, but for dates and numbers
WITH null AS role
CALL (role) {
  MATCH (r:Role {name: role})
  RETURN r
  UNION
  MATCH (r:Role)
  WHERE role IS NULL AND NOT r.name IN ['date', 'number', 'quantity', 'time', 'year']
  RETURN r ORDER BY COUNT { (r)<-[:PLAYS]-() } DESC, r.name LIMIT 1
}
MATCH (r)<-[plays:PLAYS]-(e:Entity)
WITH r, e, plays ORDER BY e.name, e.id
LIMIT 200
MATCH (e)-[:IN]->(p:Passage)
OPTIONAL MATCH (p)<-[:IN]-(date:Entity)
WHERE date.from IS NOT NULL
WITH r, e, plays, p, min(date.from) AS first, max(date.to) AS last
RETURN r.name AS role, e.name AS name, reduce(text = '', state IN plays.states | text + CASE text WHEN '' THEN '' ELSE ', ' END + state) AS states,
  first, last, p.title AS title
ORDER BY name, first, title
LIMIT 200
