// The first hundred keys of metadata that documents have, by name. Runs where no document is in a scope.
MATCH (d:Document)
UNWIND keys(d) AS key
WITH DISTINCT key
WHERE key STARTS WITH 'meta_'
RETURN substring(key, 5) AS key
ORDER BY key
LIMIT 100
