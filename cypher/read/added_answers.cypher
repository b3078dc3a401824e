// The question-answer pairs that people added, the latest first, with their passages. $scope, $open: as of `dense`. `value`: the text as it was added, which a document with the same source need not have.
// Runs once an ask of `auto` without a plan.
MATCH (c:Correction)
WHERE c.action = 'add'
MATCH (d:Document {source: c.target})<-[:PART_OF]-(p:Passage)<-[:IN]-(q:QAPair)
WHERE d.status = 'ready' AND ($scope IS NULL OR coalesce($scope[p.id], $open))
RETURN q.question AS question, c.value AS value, c.at AS added, p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section
ORDER BY added DESC, question
