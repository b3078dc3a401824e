// Removes roles that nobody plays. Runs for `doctor --mend`, after mend_loose.
MATCH (r:Role)
WHERE NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
DETACH DELETE r
