// Documents of which an overview may read passages, those with most first, a row a document.
// $since, $until: first and last day, as ISO writes them, of which a passage is (else its document), or which it names; '' for any; $scope, $open: as of `dense`.
// Runs once an overview, for two times twice.
MATCH (d:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
WHERE ($scope IS NULL OR coalesce($scope[p.id], $open))
  AND ($since = '' OR (coalesce(p.at, d.about) >= $since AND left(coalesce(p.at, d.about), 10) <= $until)
    OR EXISTS { MATCH (p)<-[:IN]-(e:Entity) WHERE e.from >= $since AND e.to <= $until })
RETURN d.id AS id, d.title AS title, d.source AS source, count(p) AS passages
ORDER BY passages DESC, source, id
