// Relations, each once in the memory. $rows: [{name, vector: bytes}]. Runs once a batch of runs that has new ones.
UNWIND $rows AS row
MERGE (r:Relation {name: row.name})
ON CREATE SET r.vector = row.vector
