// Concepts with a text in their id, those of most passages first, behind them words that only begin sentences. $text: in normal form, '' for any; $limit, after $skip. Runs where people or agents look for a name.
MATCH (c:Concept)
WHERE c.id CONTAINS $text
RETURN c.id AS id, c.name AS name, c.passages AS passages
ORDER BY coalesce(c.opens, false), passages DESC, id
SKIP $skip LIMIT $limit
