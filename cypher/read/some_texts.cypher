// Some passages with their text, and some entities with their name. $limit. Runs for `doctor --deep`.
MATCH (p:Passage)
RETURN 'passages' AS kind, p.id AS id, p.text AS text
LIMIT $limit
UNION ALL
MATCH (e:Entity)
RETURN 'entities' AS kind, e.id AS id, e.name AS text
LIMIT $limit
