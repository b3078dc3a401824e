// Which names occur in passages: the relationships that walks follow. $rows: [{key, name, joins, places: [{passage, title, weight, name}]}].
// `joins`: false of a date, a number or a common word; `name` of a place: as written, where no entity of the document says so.
// A concept of small letters alone is a common word, which joins nothing. Entities count its passages; `spellings` gives it the commonest of its names.
// Result: how many places it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MERGE (c:Concept {id: row.key})
ON CREATE SET c.name = row.name, c.passages = 0
SET c.joins = row.joins AND (c.name <> toLower(c.name) OR c.name = toUpper(c.name))
WITH c, row
UNWIND row.places AS place
MATCH (p:Passage {id: place.passage})
CREATE (p)-[:NAMES {title: place.title, weight: place.weight, name: place.name}]->(c)
RETURN count(*) AS written
