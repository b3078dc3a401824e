// Merges of the concepts of some documents, to be written again when the documents are. $documents: ids. Runs once a batch that replaces documents.
UNWIND $documents AS document
MATCH (:Document {id: document})<-[:PART_OF]-(:Passage)<-[:IN*0..1]-()-[link:REFERS_TO|NAMES]->(c:Concept)
WHERE link.counted OR link.weight IS NULL
WITH DISTINCT c
MATCH (c)-[merged:ALIAS_OF]-(:Concept)
WITH DISTINCT merged
RETURN startNode(merged).id AS alias, endNode(merged).id AS canonical, properties(merged) AS properties
