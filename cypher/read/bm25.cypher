// Passages with the words of a question. $words: joined by spaces, word characters only but for a weight (`word^0.3`); $k: how many; $scope, $open, $spread: as of `dense`. Runs once an ask of `bm25`.
// Of equals the last bits of a score differ from one index to another, so they are left out of the order; and
// an id comes from the path of the file, so title and text come first: the order is the same wherever the files are.
CALL db.index.fulltext.queryNodes('passage_text', $words, {limit: toInteger($k * $spread)}) YIELD node AS p, score
MATCH (p)-[:PART_OF]->(d:Document)
WHERE d.status = 'ready' AND ($scope IS NULL OR coalesce($scope[p.id], $open))
RETURN p.id AS id, CASE p.title WHEN '' THEN d.title ELSE p.title END AS title, p.text AS text, d.source AS source, d.id AS document, p.section AS section, p.speaker AS speaker, p.at AS at, score
ORDER BY round(score * 10000) DESC, title, text, id
