// Passages that no language model could read. Runs for `status`.
MATCH (d:Document)
WHERE d.unread IS NOT NULL
RETURN d.source AS source, d.unread AS unread
ORDER BY source
