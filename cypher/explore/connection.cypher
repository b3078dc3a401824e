// How two names are connected: the shortest ways from one to the other through passages that name both ends of each step. Put in your own two.
// The id of a concept is its name in small letters, without accents and without a leading "the".
MATCH (a:Concept {id: 'vellmouth observatory'}), (b:Concept {id: 'piet okkerse'})
MATCH path = allShortestPaths((a)-[:REFERS_TO|IN*..16]-(b))
RETURN [n IN nodes(path) WHERE n:Concept OR n:Passage | coalesce(n.title, n.name)] AS way, path
ORDER BY way
LIMIT 5
