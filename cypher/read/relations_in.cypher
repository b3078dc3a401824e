// Relations of what some passages say. $passages. Runs once a batch that is forgotten, before the deletion.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(x)-[:RELATES_BY]->(r:Relation)
RETURN DISTINCT r.name AS name
