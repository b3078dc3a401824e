// Nodes of a copy. $LABEL and $KEY are put in, names of ours; $rows: [{key, properties}]. Result: how many it wrote. Runs once a batch of a copy.
UNWIND $rows AS row
CREATE (n:$LABEL {$KEY: row.key})
SET n += row.properties
RETURN count(*) AS written
