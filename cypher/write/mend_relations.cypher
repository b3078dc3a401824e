// Removes relations that nothing is said by. Runs for `doctor --mend`, after mend_loose.
MATCH (r:Relation)
WHERE NOT EXISTS { (r)<-[:RELATES_BY]-() }
DETACH DELETE r
