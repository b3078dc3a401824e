// New documents. `text_hash` is of the passages alone, `content_hash` of a ready workspace with them; `unread`: positions of passages the extractor could not read.
// $rows: [{id, source, title, content_hash, text_hash, loader, extractor, model, unread, loaded_at, status, meta: {about, file, meta_key...}}]. Runs once a batch.
UNWIND $rows AS row
CREATE (d:Document {id: row.id, source: row.source, title: row.title, content_hash: row.content_hash, text_hash: row.text_hash, loader: row.loader,
  extractor: row.extractor, model: row.model, unread: row.unread, loaded_at: row.loaded_at, status: row.status})
SET d += row.meta
