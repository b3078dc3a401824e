// Removes relations that nothing is said by. Runs for `doctor --mend`, after mend_loose.
MATCH (r:Relation)
WHERE r.name IS NOT NULL AND NOT EXISTS { (r)<-[:RELATES_BY]-() }
DETACH DELETE r
