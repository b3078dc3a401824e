// In how many of some passages each concept stands. $passages. Runs once a batch that is forgotten, before the deletion.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(:Entity)-[:REFERS_TO]->(c:Concept)
RETURN c.id AS id, count(DISTINCT p) AS places
