// Passages that stay while what was found in them changes. $rows: [{id, names, titles}], as of new passages.
// Result: how many it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
SET p.names = row.names, p.titles = row.titles
RETURN count(*) AS written
