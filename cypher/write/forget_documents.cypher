// Deletes documents whose passages are gone. $ids.
UNWIND $ids AS id
MATCH (d:Document {id: id})
DETACH DELETE d
