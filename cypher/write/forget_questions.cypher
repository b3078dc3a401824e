// Deletes up to $limit questions that were asked. Result: how many. Runs when everything is forgotten, until there are none.
MATCH (q:Question)
WITH q LIMIT $limit
DETACH DELETE q
RETURN count(*) AS deleted
