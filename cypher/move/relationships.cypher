// Relationships of a kind that begin at some nodes. $BEGIN, $KEY_OF_BEGIN, $TYPE, $END and $KEY_OF_END are put in, names of ours; $page: keys of the nodes.
// Runs once a page of a copy.
UNWIND $page AS key
MATCH (a:$BEGIN {$KEY_OF_BEGIN: key})-[r:$TYPE]->(b:$END)
RETURN key, b.$KEY_OF_END AS end, properties(r) AS properties
