// Names that may be the same: equal but for spaces, hyphens, dots, apostrophes, "&" and a plural s.
// A name that is merged counts as its canonical one.
MATCH (c:Concept)
WHERE NOT EXISTS { (c)-[:ALIAS_OF]->() }
WITH c, replace(replace(replace(replace(replace(replace(c.id, ' & ', ' and '), ' ', ''), '-', ''), '.', ''), "'", ''), '’', '') AS letters
WITH c, CASE WHEN size(letters) > 3 AND letters ENDS WITH 's' THEN left(letters, size(letters) - 1) ELSE letters END AS letters
WITH letters, collect(c) AS found
WHERE size(found) > 1
UNWIND found AS c
WITH letters, c ORDER BY c.passages DESC, c.id
WITH letters, collect(c.name) AS names, sum(c.passages) AS passages
RETURN names[0] AS name, names[1..] AS near, passages
ORDER BY passages DESC, name
LIMIT 100
