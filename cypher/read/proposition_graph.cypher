// All passages with their propositions and the concepts that each mentions, a row a passage. `mentions`: for each proposition its concepts. Streamed; once a version of the memory, for a recipe of
// PropRAG that walks over the whole graph.
MATCH (:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)
OPTIONAL MATCH (p)<-[:IN]-(f:Proposition)
OPTIONAL MATCH (f)-[:MENTIONS]->(:Entity)-[:REFERS_TO]->(c:Concept)
OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
WITH p, f, collect(DISTINCT coalesce(canonical.id, c.id)) AS mentioned
WITH p, collect(CASE WHEN f IS NULL THEN null ELSE {id: f.id, mentions: mentioned} END) AS facts
RETURN p.id AS id, [fact IN facts | fact.id] AS ids, [fact IN facts | fact.mentions] AS mentions
