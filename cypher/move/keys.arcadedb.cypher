// All keys of a label, in no order: the engine would sort all that is left again for every page, and no more than 500,000 at once.
// $LABEL and $KEY are put in, names of ours. Runs once a label of a copy.
MATCH (n:$LABEL)
RETURN n.$KEY AS key
