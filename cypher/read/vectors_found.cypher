// How many nodes a vector index finds that is asked for $k, more than there are. $index, $embedding. Runs once a vector index for `doctor --deep`.
CALL db.index.vector.queryNodes($index, $k, $embedding) YIELD node
RETURN count(node.id) AS found
