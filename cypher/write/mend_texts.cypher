// Writes the empty texts of a label that `neo4j-admin database import` took for missing. $LABEL and $PROPERTY are put in, of load/doctor.py. Runs for `doctor --mend`.
MATCH (n:$LABEL)
WHERE n.id IS NOT NULL AND n.$PROPERTY IS NULL
SET n.$PROPERTY = ''
