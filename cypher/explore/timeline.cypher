// What happened when: every date in the order of time, with the words around it.
// A date covers days from `begins` to `ends`: a year, a month, one day.
// $since: the first day, as 1880, 1880-05 or 1880-05-03
// $until: the day before which dates begin
WITH '0001' AS since, '9999' AS until
MATCH (e:Entity)-[:IN]->(p:Passage)
WHERE e.from >= since AND e.from < until
WITH e, p ORDER BY e.from, e.to, p.title, p.id
LIMIT 200
WITH e, p, split(p.text, e.name) AS parts
RETURN e.from AS begins, e.to AS ends,
  CASE WHEN size(parts) = 1 THEN e.name ELSE trim(
    reduce(text = '', word IN split(parts[0], ' ')[-5..] | text + ' ' + word) + e.name
    + reduce(text = '', word IN split(parts[1], ' ')[..7] | text + word + ' ')) END AS words,
  p.title AS title
ORDER BY begins, ends, title, p.id
LIMIT 200
