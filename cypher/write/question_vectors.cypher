// Vectors of questions that were asked before they had any. $rows: [{id, embedding, cited}]. Runs in migration 3.
UNWIND $rows AS row
MATCH (q:Question {id: row.id})
SET q.embedding = row.embedding, q.cited = row.cited
