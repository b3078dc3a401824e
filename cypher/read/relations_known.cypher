// Those of some relations that there are. $names. Runs once a batch of runs.
UNWIND $names AS name
MATCH (r:Relation {name: name})
RETURN r.name AS name
