// Documents whose passages stay and whose content was found anew. $rows: as of new documents.
// Result: how many it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.title = row.title, d.content_hash = row.content_hash, d.text_hash = row.text_hash, d.loader = row.loader,
  d.extractor = row.extractor, d.model = row.model, d.unread = row.unread, d.loaded_at = row.loaded_at, d.status = row.status
SET d += row.meta
RETURN count(*) AS written
