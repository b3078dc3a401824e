// Texts that are empty: the import of files takes them for missing ones. $LABEL and $PROPERTY are put in, names of ours, where every node of the label has the property.
// Runs once an import, for each such property.
MATCH (n:$LABEL)
WHERE n.$PROPERTY IS NULL
CALL (n) {
  SET n.$PROPERTY = ''
} IN TRANSACTIONS OF 10000 ROWS
