// Takes passages out of what is searched; `show` and searches leave them out. An id is of a place in a document, so that the text tells which passage is meant.
// $rows: [{places: [document], texts: [of the passage]}].
UNWIND $rows AS row
MATCH (p:Passage)-[part:PART_OF]->(d:Document {id: row.places[0]})
WHERE p.text = row.texts[0]
CREATE (p)-[:SUPERSEDED_IN]->(d)
DELETE part
