// First in a transaction that changes nothing which caches hold: on a server writers queue here instead of deadlocking, and the version stamp stays.
MATCH (m:Memory {id: 'memory'})
SET m.version = m.version
