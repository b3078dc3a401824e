// Raises the version stamp, first in every writing transaction: caches see the change, and on a server writers queue here instead of deadlocking.
MATCH (m:Memory {id: 'memory'})
SET m.version = m.version + 1
