// Concepts that have a vector, which those have that an edge joins: a row a concept with how its canonical one is shown and its packed vector. Once a version of the memory, with `all_runs`.
MATCH (c:Concept)
OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
WITH c, coalesce(canonical, c) AS shown, coalesce(canonical.vector, c.vector) AS vector
WHERE vector IS NOT NULL
RETURN c.id AS id, shown.id AS canonical, shown.name AS name, vector, shown.passages AS passages
