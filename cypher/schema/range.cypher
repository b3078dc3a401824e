// Values in order: MATCH (e:Entity) WHERE e.from >= '1900-01-01' uses this. $NAME, $LABEL and $PROPERTY are put in, of store/nodes.py. Runs before the first rows.
CREATE INDEX $NAME IF NOT EXISTS FOR (n:$LABEL) ON (n.$PROPERTY)
