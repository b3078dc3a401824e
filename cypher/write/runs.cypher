// New runs. $rows: [{id, title: what Neo4j Browser shows, edges: how many, passages: [id]}]. Result: how many places it wrote, which must be all. Runs once a batch of runs.
UNWIND $rows AS row
CREATE (r:Run {id: row.id, title: row.title, edges: row.edges})
WITH r, row
UNWIND row.passages AS id
MATCH (p:Passage {id: id})
CREATE (r)-[:IN]->(p)
RETURN count(*) AS written
