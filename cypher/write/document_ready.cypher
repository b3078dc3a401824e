// The last part of a document that did not fit one transaction is written: $id may be seen from now on.
MATCH (d:Document {id: $id})
SET d.status = 'ready'
