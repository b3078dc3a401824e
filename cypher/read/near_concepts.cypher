// Concepts that a name may mean which is none: those that begin as it does or hold it. $start: its first letters; $wanted: in normal form. Runs where an analysis is told such a name.
MATCH (c:Concept)
WHERE c.id STARTS WITH $start OR c.id CONTAINS $wanted
RETURN c.id AS id, c.name AS name
ORDER BY c.passages DESC, id
LIMIT 2000
