// How many nodes and relationships of each kind, the missing ones too (WITH: a constant beside an aggregate would be a group, and of nothing there is none);
// the servers answer from their counters, but for documents, as people may have nodes of that label. Runs for `status` and around a load.
MATCH (n:Document) WHERE n.id IS NOT NULL WITH count(n) AS count RETURN 'node' AS kind, 'Document' AS name, count
UNION ALL MATCH (n:Passage) WITH count(n) AS count RETURN 'node' AS kind, 'Passage' AS name, count
UNION ALL MATCH (n:Entity) WITH count(n) AS count RETURN 'node' AS kind, 'Entity' AS name, count
UNION ALL MATCH (n:Role) WITH count(n) AS count RETURN 'node' AS kind, 'Role' AS name, count
UNION ALL MATCH (n:Concept) WITH count(n) AS count RETURN 'node' AS kind, 'Concept' AS name, count
UNION ALL MATCH (n:VerbPhrase) WITH count(n) AS count RETURN 'node' AS kind, 'VerbPhrase' AS name, count
UNION ALL MATCH (n:QAPair) WITH count(n) AS count RETURN 'node' AS kind, 'QAPair' AS name, count
UNION ALL MATCH (n:Proposition) WITH count(n) AS count RETURN 'node' AS kind, 'Proposition' AS name, count
UNION ALL MATCH (n:Relation) WITH count(n) AS count RETURN 'node' AS kind, 'Relation' AS name, count
UNION ALL MATCH (n:Run) WITH count(n) AS count RETURN 'node' AS kind, 'Run' AS name, count
UNION ALL MATCH (n:Question) WITH count(n) AS count RETURN 'node' AS kind, 'Question' AS name, count
UNION ALL MATCH ()-[r:PART_OF]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'PART_OF' AS name, count
UNION ALL MATCH ()-[r:NEXT]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'NEXT' AS name, count
UNION ALL MATCH ()-[r:IN]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'IN' AS name, count
UNION ALL MATCH ()-[r:NAMES]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'NAMES' AS name, count
UNION ALL MATCH ()-[r:PLAYS]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'PLAYS' AS name, count
UNION ALL MATCH ()-[r:REFERS_TO]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'REFERS_TO' AS name, count
UNION ALL MATCH ()-[r:ASKS]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'ASKS' AS name, count
UNION ALL MATCH ()-[r:ANSWERED_BY]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'ANSWERED_BY' AS name, count
UNION ALL MATCH ()-[r:ABOUT]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'ABOUT' AS name, count
UNION ALL MATCH ()-[r:MENTIONS]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'MENTIONS' AS name, count
UNION ALL MATCH ()-[r:RELATES_BY]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'RELATES_BY' AS name, count
UNION ALL MATCH ()-[r:HOLDS]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'HOLDS' AS name, count
UNION ALL MATCH ()-[r:ALIAS_OF]->() WITH count(r) AS count RETURN 'relationship' AS kind, 'ALIAS_OF' AS name, count
