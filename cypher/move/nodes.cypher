// Nodes with all their properties. $LABEL and $KEY are put in, names of ours; $page: their keys. Runs once a page of a copy.
UNWIND $page AS key
MATCH (n:$LABEL {$KEY: key})
RETURN key, properties(n) AS properties
