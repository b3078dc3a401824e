// Removes roles that nobody plays. Runs for `doctor --mend`, after mend_loose.
MATCH (r:Role)
WHERE r.name IS NOT NULL AND NOT EXISTS { (r)<-[:PLAYS]-(:Entity) }
DETACH DELETE r
