// Passages of documents in which something was found. $ids, $limit. Runs once a batch whose content is found anew.
UNWIND $ids AS id
MATCH (d:Document {id: id})<-[:PART_OF|SUPERSEDED_IN]-(p:Passage)
WHERE EXISTS { (p)<-[:IN]-() } OR EXISTS { (p)-[:NAMES]->() }
RETURN p.id AS id
LIMIT $limit
