// What happened when: every date in the order of time, with the words around it. A date covers days from one to the other: a year, a month, one day.
// For a part of the time: e.from >= '1880-01-01' AND e.from < '1890-01-01'. The comparison makes use of the index.
MATCH (e:Entity)-[:IN]->(p:Passage)
WHERE e.from >= '0001-01-01'
WITH e, p, split(p.text, e.name) AS parts
RETURN e.from AS begins, e.to AS ends, p.title AS title, right(parts[0], 30) + e.name + left(coalesce(parts[1], ''), 30) AS words
ORDER BY begins, ends, title
LIMIT 200
