// New question-answer pairs; the procedure stores the vector in 32 bits.
// $rows: [{id, question, answer, answers: [text], embedding, vector: bytes, passage: id, verb_phrase: id}].
// `title` is what Neo4j Browser shows. Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
MATCH (v:VerbPhrase {id: row.verb_phrase})
CREATE (q:QAPair {id: row.id, title: row.question, question: row.question, answer: row.answer, answers: row.answers, vector: row.vector})-[:IN]->(p), (q)<-[:ASKS]-(v)
WITH q, row
CALL db.create.setNodeVectorProperty(q, 'embedding', row.embedding)
RETURN count(*) AS written
