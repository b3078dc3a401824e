// The keys of a label in order, a page at a time. $LABEL and $KEY are put in, names of ours; $after: the last key of the page before; $limit. Runs once a page of a copy.
MATCH (n:$LABEL)
WHERE n.$KEY > $after
RETURN n.$KEY AS key
ORDER BY key
LIMIT $limit
