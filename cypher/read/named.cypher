// The documents that a name may mean, with the position of the passage that it is the id of. $wanted: an id of a document or a passage, or a source; $title: the name
// in lower case; $path: the name as an absolute path, a source or a folder above some; $ending: a slash and the name.
// `how`: 1 an id, 2 a source, 3 a folder, 4 a title, or the file of records, 5 the last parts of a source. Runs once a `show`.
CALL () {
  MATCH (p:Passage {id: $wanted})-[:PART_OF]->(d:Document)
  RETURN d, p.position AS position
  UNION
  MATCH (d:Document)
  WHERE d.id IS NOT NULL AND (d.id = $wanted OR d.source IN [$wanted, $path] OR d.source STARTS WITH $path + '/' OR d.file = $path OR toLower(d.title) = $title
    OR d.source ENDS WITH $ending)
  RETURN d, null AS position
}
WITH d, position LIMIT 1000
CALL (d) {
  MATCH (d)<-[:PART_OF]-(p:Passage)
  RETURN count(p) AS passages
}
RETURN CASE WHEN position IS NOT NULL OR d.id = $wanted THEN 1 WHEN d.source IN [$wanted, $path] THEN 2 WHEN d.source STARTS WITH $path + '/' THEN 3
    WHEN d.file = $path OR toLower(d.title) = $title THEN 4 ELSE 5 END AS how,
  position, d.id AS id, d.source AS source, d.title AS title, d.loader AS loader, d.extractor AS extractor, d.model AS model, d.status AS status,
  d.loaded_at AS loaded_at, d.unread AS unread, passages, COUNT { (d)<-[:SUPERSEDED_IN]-(:Passage) } AS superseded, properties(d) AS properties
