// How concepts are shown. $ids. Runs once a traced ask.
UNWIND $ids AS id
MATCH (c:Concept {id: id})
RETURN c.id AS id, c.name AS name
