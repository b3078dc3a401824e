// Documents of which no answer has used any passage or pair, the oldest first.
// Nobody has asked for them, or the search does not find them.
MATCH (d:Document)
WHERE NOT EXISTS { MATCH (d)<-[:PART_OF]-(p:Passage) WHERE EXISTS { (p)<-[:USED]-(:Question) } OR EXISTS { MATCH (p)<-[:IN]-(:QAPair)<-[:USED]-(:Question) } }
RETURN d.title AS title, replace(left(d.loaded_at, 16), 'T', ' ') AS loaded, d.source AS source
ORDER BY loaded, source
LIMIT 100
