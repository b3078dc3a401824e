// Deletes what stands in these passages and in no other: entities, verb phrases, question-answer pairs, propositions. $passages.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(x)
WITH DISTINCT x
WHERE all(place IN [(x)-[:IN]->(q:Passage) | q.id] WHERE place IN $passages)
DETACH DELETE x
