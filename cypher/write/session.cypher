// The document of a conversation, made where there is none. $row: {id, source, title, loader, about, speaker, now}. It has no hash, as its turns come one at a time.
// Result: how many turns it has. Runs once a turn.
MERGE (d:Document {id: $row.id})
ON CREATE SET d.source = $row.source, d.title = $row.title, d.loader = $row.loader, d.extractor = 'rules', d.status = 'ready', d.about = $row.about
SET d.content_hash = '', d.text_hash = '', d.loaded_at = $row.now,
  d.meta_speakers = CASE WHEN $row.speaker IN coalesce(d.meta_speakers, []) + '' THEN d.meta_speakers ELSE coalesce(d.meta_speakers, []) + $row.speaker END
WITH d
OPTIONAL MATCH (d)<-[:PART_OF|SUPERSEDED_IN]-(p:Passage)
RETURN count(p) AS turns
