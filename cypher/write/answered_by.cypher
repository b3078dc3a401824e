// Answers that are entities. $rows: [{pair, entity, position}], position in the list of answers. Result: how many it wrote. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (q:QAPair {id: row.pair})
MATCH (e:Entity {id: row.entity})
CREATE (q)-[:ANSWERED_BY {position: row.position}]->(e)
RETURN count(*) AS written
