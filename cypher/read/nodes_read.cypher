// How many nodes of each label can be read, one by one. Runs for `doctor --deep`, beside `counts`, which the engines keep apart.
MATCH (n)
WITH labels(n)[0] AS name, coalesce(n.id, n.name) AS id
WHERE id IS NOT NULL
RETURN name, count(id) AS count
