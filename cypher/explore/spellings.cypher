// Names with several spellings, which count as one: how each is written, and in how many documents.
MATCH (c:Concept)
WHERE COUNT { (c)<-[:REFERS_TO]-() } > 1
MATCH (c)<-[:REFERS_TO]-(e:Entity)
WITH c, e.name AS spelling, count(e) AS documents ORDER BY documents DESC, spelling
WITH c, collect(spelling + ' (' + toString(documents) + ')') AS spellings
WHERE size(spellings) > 1
RETURN c.name AS name, spellings, c.passages AS passages
ORDER BY passages DESC, name
LIMIT 100
