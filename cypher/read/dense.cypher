// Passages nearest to a question. $embedding, $k; $scope: ids of passages, with whether they are searched, null for all; $open: whether passages that it does not name are; $spread: looked at for each that is wanted. Runs once an ask of `dense`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
CALL db.index.vector.queryNodes('passage_embedding', toInteger(($k + 50) * $spread), $embedding) YIELD node AS p, score
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready' AND ($scope IS NULL OR coalesce($scope[p.id], $open))
RETURN p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section, p.speaker AS speaker, p.at AS at, score
ORDER BY score DESC, id
LIMIT $k
