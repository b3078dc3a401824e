// Entities that a question names. $rows: [{pair, entity}]. Result: how many it wrote. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (q:QAPair {id: row.pair})
MATCH (e:Entity {id: row.entity})
CREATE (q)-[:ABOUT]->(e)
RETURN count(*) AS written
