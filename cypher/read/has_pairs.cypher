// A question-answer pair, if there is any; $scope: as of `dense`. Runs before a question is planned by a language model or asked without a plan, and where no chain was found.
MATCH (q:QAPair)
WHERE $scope IS NULL OR EXISTS { MATCH (q)-[:IN]->(p:Passage) WHERE $scope[p.id] }
RETURN q.id AS id
LIMIT 1
