// Documents whose load or removal was cut off; the next load of the same source completes them. Runs for `status` and `doctor`.
MATCH (d:Document)
WHERE d.id IS NOT NULL AND d.status <> 'ready'
RETURN d.source AS source
ORDER BY source
