// What is loaded: each document with how many passages it has and how many names they hold.
MATCH (d:Document)
OPTIONAL MATCH (d)<-[:PART_OF]-(p:Passage)
OPTIONAL MATCH (p)<-[:IN]-(e:Entity)
RETURN d.title AS title, count(DISTINCT p) AS passages, count(DISTINCT e) AS names, d.loaded_at AS loaded, d.source AS source
ORDER BY title, source
LIMIT 1000
