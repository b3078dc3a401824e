// The states that documents of a copy have in the memory they come from. $rows: [{key, status}]. Runs once a page of documents, at the end of a copy.
UNWIND $rows AS row
MATCH (d:Document {id: row.key})
SET d.status = row.status
