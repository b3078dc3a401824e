// The states of roles in some passages: who was what, and in what state. $passages: ids. Runs once an ask about a time on a memory with states.
UNWIND $passages AS id
MATCH (p:Passage {id: id})<-[:IN]-(e:Entity)-[plays:PLAYS]->(r:Role)
WHERE size(plays.states) > 0
RETURN p.id AS passage, e.name AS name, r.name AS role, plays.states AS states
ORDER BY passage, name, role
