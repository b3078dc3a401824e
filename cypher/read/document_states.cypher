// What is known of some documents. $ids. Runs once a batch of a load.
UNWIND $ids AS id
MATCH (d:Document {id: id})
RETURN d.id AS id, d.content_hash AS content_hash, d.text_hash AS text_hash, d.extractor AS extractor, d.model AS model, d.unread AS unread, d.status AS status,
  d.loader AS loader, properties(d) AS properties
