// Removes nodes that a restore or copy left which was cut off. $LABEL and $KEY are put in, names of ours; $page: their keys. Runs once a page of them.
UNWIND $page AS key
MATCH (n:$LABEL {$KEY: key})
DETACH DELETE n
