// Raises the version stamp, first in every writing transaction: caches see the change, and on a server writers queue here instead of deadlocking.
// Last, it let single documents be written side by side, but batches that share names then deadlocked at half of their tries (docs/scale.md).
MATCH (m:Memory {id: 'memory'})
SET m.version = m.version + 1
