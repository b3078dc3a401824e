// New passages of documents. $rows: [{id, document, text, words, title, position, section, vector: bytes, embedding}].
// Result: how many it wrote, which must be all. Runs once a batch.
UNWIND $rows AS row
MATCH (d:Document {id: row.document})
CREATE (p:Passage {id: row.id, text: row.text, words: row.words, title: row.title, position: row.position, section: row.section, vector: row.vector, embedding: row.embedding})-[:PART_OF]->(d)
RETURN count(*) AS written
