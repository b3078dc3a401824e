// Vectors of a copy; the procedure stores them in 32 bits. $LABEL and $KEY are put in, names of ours; $rows: [{key, property, vector}]. Runs once a batch of a copy.
UNWIND $rows AS row
MATCH (n:$LABEL {$KEY: row.key})
CALL db.create.setNodeVectorProperty(n, row.property, row.vector)
RETURN count(*) AS written
