// Roles that nobody plays any more. $names. The lock comes before the look: another transaction may give the role to somebody.
UNWIND $names AS name
MATCH (r:Role {name: name})
SET r.name = r.name
WITH r
WHERE NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
DETACH DELETE r
