// The names that stand in most passages; dates are left out.
MATCH (c:Concept)<-[:REFERS_TO]-(e:Entity)
WHERE e.from IS NULL
RETURN c.name AS name, c.passages AS passages, count(e) AS documents
ORDER BY passages DESC, name
LIMIT 25
