// The relation of each of some propositions. $rows: [{statement, relation}]. One whose run was removed has its relation still. Result: how many it wrote, which must be all. Runs once a batch of runs that has some.
UNWIND $rows AS row
MATCH (x:Proposition {id: row.statement})
MATCH (r:Relation {name: row.relation})
MERGE (x)-[:RELATES_BY]->(r)
RETURN count(*) AS written
