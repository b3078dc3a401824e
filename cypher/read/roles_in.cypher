// Roles played in some passages. $passages. Runs once a batch that is forgotten, before the deletion.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(:Entity)-[:PLAYS]->(r:Role)
RETURN DISTINCT r.name AS name
