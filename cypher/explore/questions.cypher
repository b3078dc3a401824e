// What was asked lately, what was answered, and the pairs and passages that the answers used. For Neo4j Browser.
MATCH (q:Question)
WITH q ORDER BY q.asked_at DESC LIMIT 10
OPTIONAL MATCH (q)-[u:USED]->(x)
RETURN q, u, x
