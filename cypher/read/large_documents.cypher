// Which of some documents have more than $limit passages. $ids. Runs before documents are replaced or forgotten.
UNWIND $ids AS id
MATCH (d:Document {id: id})<-[:PART_OF|SUPERSEDED_IN]-(p:Passage)
WITH d, count(p) AS passages
WHERE passages > $limit
RETURN d.id AS id
