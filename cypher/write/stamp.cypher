// Raises the version stamp, in every transaction that changes what caches hold. New documents raise it last, so that several writers work side by side; whatever else writes raises
// it first, so that on a server these transactions queue here instead of deadlocking.
MATCH (m:Memory {id: 'memory'})
SET m.version = m.version + 1
