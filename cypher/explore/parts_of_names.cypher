// Names that end in another name, and may be the same: "Maraud" and "Étienne Maraud".
// Of the names that occur in several passages.
MATCH (c:Concept)
WHERE c.passages > 1 AND c.id CONTAINS ' ' AND c.name <> toLower(c.name) AND NOT c.id CONTAINS ',' AND NOT c.id CONTAINS ' of '
WITH c, split(c.id, ' ') AS words ORDER BY c.passages DESC, c.id LIMIT 5000
MATCH (short:Concept {id: words[-1]})
WHERE short.name <> toLower(short.name)
RETURN short.name AS short, short.passages AS passages, c.name AS long, c.passages AS passages_of_long
ORDER BY passages DESC, short, long
LIMIT 100
