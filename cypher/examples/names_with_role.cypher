// List all painters who occur in the same passage as Ann Bell.
// {"role": "painter", "name": "ann bell"}
MATCH (c:Concept)<-[:REFERS_TO]-(e:Entity)-[plays:PLAYS]->(r:Role)
WHERE toLower(r.name) CONTAINS $role OR any(state IN plays.states WHERE toLower(state) CONTAINS $role)
MATCH (e)-[:IN]->(p:Passage)<-[:IN*0..1]-()-[:REFERS_TO|NAMES]->(:Concept)-[:ALIAS_OF*0..2]-(:Concept {id: $name})
MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
WHERE c.id <> $name
RETURN c.name AS painter, collect(DISTINCT p.id) AS evidence
ORDER BY painter
LIMIT 100
