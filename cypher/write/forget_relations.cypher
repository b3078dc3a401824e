// Relations that nothing is said by any more. $names. The lock comes before the look, as in `forget_roles`.
UNWIND $names AS name
MATCH (r:Relation {name: name})
SET r.name = r.name
WITH r
WHERE NOT EXISTS { (r)<-[:RELATES_BY]-() }
DETACH DELETE r
