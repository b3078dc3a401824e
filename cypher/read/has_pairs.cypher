// A question-answer pair, if there is any beside those that people added; $scope, $open: as of `dense`. Runs before a question is planned by a language model or asked without a plan, and where no chain was found.
MATCH (q:QAPair)
WHERE EXISTS { MATCH (q)-[:IN]->(p:Passage)-[:PART_OF]->(d:Document) WHERE NOT d.source STARTS WITH 'correction:' AND ($scope IS NULL OR coalesce($scope[p.id], $open)) }
RETURN q.id AS id
LIMIT 1
