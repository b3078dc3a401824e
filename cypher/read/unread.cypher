// Passages that no language model could read. Runs for `status`.
MATCH (d:Document)
WHERE d.id IS NOT NULL AND d.unread IS NOT NULL
RETURN d.source AS source, d.unread AS unread
ORDER BY source
