// New entities with their concepts and places. $rows: [{id, name, key, description, from, to, joins, opens, places: [{passage: id, title: whether it is the title of the passage}],
// passages: in how many of them no other spelling of the name was counted}].
// Result: how many places it wrote, which must be all. Runs once a batch.
// `joins`: false of a date, a number or a common word; `opens`: a word that its document has at the beginning of sentences only, and of a concept that all its documents do.
// A concept counts the passages it occurs in; `spellings` gives it the commonest of its names.
UNWIND $rows AS row
MERGE (c:Concept {id: row.key})
ON CREATE SET c.name = row.name, c.passages = row.passages, c.opens = row.opens
ON MATCH SET c.opens = row.opens AND coalesce(c.opens, c.passages = 0), c.passages = c.passages + row.passages
SET c.joins = row.joins AND (c.name <> toLower(c.name) OR c.name = toUpper(c.name))
CREATE (e:Entity {id: row.id, name: row.name, description: row.description, from: row.from, to: row.to, opens: CASE WHEN row.opens THEN true END})-[:REFERS_TO]->(c)
WITH e, row
UNWIND row.places AS place
MATCH (p:Passage {id: place.passage})
CREATE (e)-[:IN {title: place.title}]->(p)
RETURN count(*) AS written
