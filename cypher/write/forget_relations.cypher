// Relations that nothing is said by any more. $names.
UNWIND $names AS name
MATCH (r:Relation {name: name})
WHERE NOT EXISTS { (r)<-[:RELATES_BY]-() }
DETACH DELETE r
