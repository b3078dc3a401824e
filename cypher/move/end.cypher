// Removes the mark of a restore or copy that has ended. Runs once a restore or copy.
MATCH (m:Memory {id: 'restoring'})
DELETE m
