// Deletes the questions whose answers cite a passage of some documents, before these are forgotten. $ids: of the documents. Result: how many. Runs once a batch of a `forget`.
UNWIND $ids AS id
MATCH (:Document {id: id})<-[:PART_OF]-(:Passage)<-[u:USED]-(q:Question)
WHERE u.cited
WITH DISTINCT q
DETACH DELETE q
RETURN count(*) AS deleted
