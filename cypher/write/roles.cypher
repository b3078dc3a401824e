// Roles that entities play. $rows: [{entity, role, states: [text]}]. Runs once a batch.
UNWIND $rows AS row
MATCH (e:Entity {id: row.entity})
MERGE (r:Role {name: row.role})
CREATE (e)-[:PLAYS {states: row.states}]->(r)
