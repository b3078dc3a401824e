// Passages that an overview chooses from: the first of each document, then those first whose names lead to most other passages; dates and common words lead to none.
// $documents: ids; $since, $until, $scope, $open: as of `cover_documents`; $limit. `part`: a section of a document. Runs after `cover_documents`.
UNWIND $documents AS id
MATCH (d:Document {id: id})<-[:PART_OF]-(p:Passage)
WHERE ($scope IS NULL OR coalesce($scope[p.id], $open))
  AND ($since = '' OR (coalesce(p.at, d.about) >= $since AND left(coalesce(p.at, d.about), 10) <= $until)
    OR EXISTS { MATCH (p)<-[:IN]-(e:Entity) WHERE e.from >= $since AND e.to <= $until })
CALL (p) {
  MATCH (p)-[:NAMES]->(c:Concept)
  WHERE c.joins
  RETURN coalesce(sum(c.passages - 1), 0) AS links
}
WITH d, p, links
ORDER BY CASE p.position WHEN 0 THEN 0 ELSE 1 END, links DESC, p.title, p.position, p.id
LIMIT $limit
RETURN p.id AS id, d.id AS document, d.id + ' ' + coalesce(p.section, '') AS part
