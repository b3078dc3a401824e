// New passages of documents. $rows: [{id, document, text, title, position, names, titles, vector: bytes, embedding}].
// `names`: what rules find in the text, `titles` those of them that are its title; null where the entities are these.
// Result: how many it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MATCH (d:Document {id: row.document})
CREATE (p:Passage {id: row.id, text: row.text, title: row.title, position: row.position, names: row.names, titles: row.titles,
  vector: row.vector, embedding: row.embedding})-[:PART_OF]->(d)
RETURN count(*) AS written
