// The order of passages. $rows: [{from, to}], ids of passages that follow each other. Runs once a batch that has such documents.
UNWIND $rows AS row
MATCH (a:Passage {id: row.from})
MATCH (b:Passage {id: row.to})
CREATE (a)-[:NEXT]->(b)
