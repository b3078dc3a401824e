// New question-answer pairs. $rows: [{id, question, answer, answers: [text], embedding, vector: bytes, passage: id, verb_phrase: id}].
// `title` is what Neo4j Browser shows. Result: how many it wrote, which must be all. Runs once a batch that has some.
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
MATCH (v:VerbPhrase {id: row.verb_phrase})
CREATE (q:QAPair {id: row.id, title: row.question, question: row.question, answer: row.answer, answers: row.answers, embedding: row.embedding, vector: row.vector})-[:IN]->(p),
  (q)<-[:ASKS]-(v)
RETURN count(*) AS written
