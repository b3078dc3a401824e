// Passages of documents. $ids, $limit. Runs once a batch that is forgotten.
UNWIND $ids AS id
MATCH (d:Document {id: id})<-[:PART_OF|SUPERSEDED_IN]-(p:Passage)
RETURN p.id AS id
LIMIT $limit
