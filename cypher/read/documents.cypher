// Documents with how many passages each has, by source. $text: in lower case, in the source, its file or the title ('' for any); $path: source or file, or a folder above;
// $extractor, $loader: null for any; $unfinished: only those whose load was cut off, or in which passages could not be read; $limit, after $skip.
// `total` counts all that fit. Runs for `list`.
MATCH (d:Document)
WHERE d.id IS NOT NULL AND (toLower(d.title) CONTAINS $text
    OR any(place IN [d.source, coalesce(d.file, d.source)] WHERE toLower(place) CONTAINS $text OR place = $path OR place STARTS WITH $path + '/'))
  AND ($extractor IS NULL OR d.extractor = $extractor) AND ($loader IS NULL OR d.loader = $loader)
  AND (NOT $unfinished OR d.status <> 'ready' OR d.unread IS NOT NULL)
WITH d ORDER BY d.source
WITH collect(d) AS found
WITH size(found) AS total, found[$skip..$skip + $limit] AS shown
UNWIND shown AS d
WITH total, d
CALL (d) {
  MATCH (d)<-[:PART_OF]-(p:Passage)
  RETURN count(p) AS passages
}
RETURN total, d.id AS id, d.source AS source, d.title AS title, d.loader AS loader, d.extractor AS extractor, d.model AS model, d.status AS status,
  d.loaded_at AS loaded_at, d.unread AS unread, passages, COUNT { (d)<-[:SUPERSEDED_IN]-(:Passage) } AS superseded, properties(d) AS properties
ORDER BY source
