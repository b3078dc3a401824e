// Documents whose load was cut off, or with passages that a language model could not read.
// The same load again completes them.
MATCH (d:Document)
WHERE d.status <> 'ready' OR d.unread IS NOT NULL
RETURN d.title AS title, d.status AS status, [position IN d.unread | position + 1] AS unread_passages, d.extractor AS extractor, replace(left(d.loaded_at, 16), 'T', ' ') AS loaded,
  d.source AS source
ORDER BY status, source
LIMIT 100
