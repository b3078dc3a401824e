// The concepts that others are called by, made where no text has the name. $rows: [{key, value}]. `merges` joins the old names to them.
UNWIND $rows AS row
MERGE (c:Concept {id: row.key})
ON CREATE SET c.passages = 0, c.joins = true
SET c.name = row.value
