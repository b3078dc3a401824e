// A question-answer pair, if there is any; $scope: as of `dense`. Runs before a question is planned by a language model or asked without a plan, and where no chain was found.
MATCH (q:QAPair)
WHERE $scope IS NULL OR EXISTS { MATCH (q)-[:IN]->(:Passage)-[:PART_OF]->(d:Document) WHERE $scope[d.id] }
RETURN q.id AS id
LIMIT 1
