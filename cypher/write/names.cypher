// Which names occur in passages: the relationships that walks follow. $rows: [{key, name, joins, opens, passages, places: [{passage, title, weight, name, counted}]}].
// `joins`: false of a date, a number or a common word; `name` of a place: as written, if no entity of the document says so; `counted`: whether rules found this name and nothing
// else of it, so that the concept counts this place and has no entity here; `opens` as of entities, null of a name that is not counted; `passages`: how many places are counted.
// A concept of small letters alone is a common word, which joins nothing. `spellings` gives it the commonest of its names.
// Result: how many places it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MERGE (c:Concept {id: row.key})
ON CREATE SET c.name = row.name, c.passages = row.passages, c.opens = row.opens
ON MATCH SET c.opens = CASE WHEN row.opens IS NULL THEN c.opens ELSE row.opens AND coalesce(c.opens, c.passages = 0) END, c.passages = c.passages + row.passages
SET c.joins = row.joins AND (c.name <> toLower(c.name) OR c.name = toUpper(c.name))
WITH c, row
UNWIND row.places AS place
MATCH (p:Passage {id: place.passage})
CREATE (p)-[:NAMES {title: place.title, weight: place.weight, name: place.name, counted: CASE WHEN place.counted THEN true END, opens: CASE WHEN row.opens THEN true END}]->(c)
RETURN count(*) AS written
