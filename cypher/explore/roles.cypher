// Roles by how many names play them, with some of those.
MATCH (r:Role)
WITH r, COUNT { (r)<-[:PLAYS]-() } AS names ORDER BY names DESC, r.name
LIMIT 50
CALL (r) {
  MATCH (r)<-[:PLAYS]-(e:Entity)
  WITH DISTINCT e.name AS name ORDER BY name LIMIT 3
  RETURN collect(name) AS examples
}
RETURN r.name AS role, names, examples
ORDER BY names DESC, role
LIMIT 50
