// Metadata of documents whose texts stay. $rows: [{id, meta: {about, file, meta_key...}}]; a null takes a property away.
// Result: how many it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d += row.meta
RETURN count(*) AS written
