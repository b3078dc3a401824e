// The timeline of a name: the dates of its passages in order, with the words around them.
// Of a name in more than 500 documents or passages, 500 are looked at.
// $concept: a name; without one, the name (no date, number or common word) that occurs in most passages
// $since: the first day, as 1880, 1880-05 or 1880-05-03
// $until: the day before which dates begin
WITH null AS concept, '0001' AS since, '9999' AS until
CALL (concept) {
  MATCH (c:Concept {id: toLower(concept)})
  RETURN c
  UNION
  MATCH (c:Concept)
  WHERE concept IS NULL
  WITH c ORDER BY c.passages DESC, c.id LIMIT 500
  RETURN c ORDER BY NOT c.joins, c.passages DESC, c.id LIMIT 1
}
MATCH (c)<-[link:REFERS_TO|NAMES]-(x)
WHERE link.counted OR link.weight IS NULL
WITH c, x, since, until LIMIT 500
MATCH (x)-[:IN*0..1]->(p:Passage)
WITH DISTINCT c, p, since, until
MATCH (p)<-[:IN]-(e:Entity)
WHERE e.from >= since AND e.from < until
WITH DISTINCT c, e, p ORDER BY e.from, e.to, p.title, p.id
LIMIT 200
WITH c, e, p, split(p.text, e.name) AS parts
RETURN c.name AS name, e.from AS begins, e.to AS ends,
  CASE WHEN size(parts) = 1 THEN e.name ELSE trim(
    reduce(text = '', word IN split(parts[0], ' ')[-5..] | text + ' ' + word) + e.name
    + reduce(text = '', word IN split(parts[1], ' ')[..7] | text + word + ' ')) END AS words,
  p.title AS title
ORDER BY begins, ends, title, p.id
LIMIT 200
