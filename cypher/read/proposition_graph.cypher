// All propositions with the concepts they mention, a row a passage that has some. `mentions`: for each proposition its concepts. `$scope`: as of `dense`. Streamed; once an ask of a recipe of
// PropRAG that walks over the whole graph.
MATCH (:Document {status: 'ready'})<-[:PART_OF]-(p:Passage)<-[:IN]-(f:Proposition)
WHERE $scope IS NULL OR $scope[p.id]
OPTIONAL MATCH (f)-[:MENTIONS]->(:Entity)-[:REFERS_TO]->(c:Concept)
OPTIONAL MATCH (c)-[:ALIAS_OF]->(canonical:Concept)
WITH p, f, collect(DISTINCT coalesce(canonical.id, c.id)) AS mentioned
WITH p, collect(f) AS propositions, collect(mentioned) AS mentions
RETURN p.id AS id, [f IN propositions | f.id] AS ids, mentions
