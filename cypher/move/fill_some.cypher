// The same where only some nodes of the label have the property. $LABEL, $KEY and $PROPERTY are put in; $page: the keys of those nodes. Runs as often as there are pages.
UNWIND $page AS key
MATCH (n:$LABEL {$KEY: key})
SET n.$PROPERTY = ''
