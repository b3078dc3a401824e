// Entities of propositions. $rows: [{proposition, entity, role}], role 'subject' or 'object' of a triple, else null. Result: how many it wrote.
// Runs once a batch that has some.
UNWIND $rows AS row
MATCH (f:Proposition {id: row.proposition})
MATCH (e:Entity {id: row.entity})
CREATE (f)-[:MENTIONS {role: row.role}]->(e)
RETURN count(*) AS written
