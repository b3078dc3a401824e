// Roles that nobody plays any more. $names.
UNWIND $names AS name
MATCH (r:Role {name: name})
WHERE NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
DETACH DELETE r
