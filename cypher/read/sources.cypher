// Every document's id and source. Runs when everything is to be forgotten.
MATCH (d:Document)
RETURN d.id AS id, d.source AS source
ORDER BY source
