// Every document's id and source. Runs when everything is to be forgotten.
MATCH (d:Document)
WHERE d.status IS NOT NULL
RETURN d.id AS id, d.source AS source
ORDER BY source
