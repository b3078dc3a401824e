// Vectors of the symbols of the codebook: concepts that an edge joins, and relations. Streamed; once a version of the memory, kept by the client.
MATCH (c:Concept)
WHERE c.vector IS NOT NULL
RETURN 'concept' AS kind, c.id AS id, c.name AS name, c.vector AS vector
UNION ALL
MATCH (r:Relation)
RETURN 'relation' AS kind, r.name AS id, r.name AS name, r.vector AS vector
