// The key of a label is unique; the constraint also brings the index that MERGE and MATCH look up. $NAME, $LABEL and $PROPERTY are put in, of store/nodes.py. Runs before the first rows.
CREATE CONSTRAINT $NAME IF NOT EXISTS FOR (n:$LABEL) REQUIRE n.$PROPERTY IS UNIQUE
