// How many passages are in documents that are not ready: they take places in the indexes that a search must look past.
// Runs when a search found less than it asked for, or met one of them.
MATCH (d:Document)<-[:PART_OF]-(p:Passage)
WHERE d.status <> 'ready'
RETURN count(p) AS passages
