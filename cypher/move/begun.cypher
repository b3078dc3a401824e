// Whether a restore or a copy has begun here and not ended. Runs where there is no memory.
MATCH (m:Memory {id: 'restoring'})
RETURN count(m) > 0 AS begun
