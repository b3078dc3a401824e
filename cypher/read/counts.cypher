// How many nodes and relationships of each kind; the servers answer from their counters. Runs for `status` and around a load.
MATCH (n:Document) RETURN 'node' AS kind, 'Document' AS name, count(n) AS count
UNION ALL MATCH (n:Passage) RETURN 'node' AS kind, 'Passage' AS name, count(n) AS count
UNION ALL MATCH (n:Entity) RETURN 'node' AS kind, 'Entity' AS name, count(n) AS count
UNION ALL MATCH (n:Role) RETURN 'node' AS kind, 'Role' AS name, count(n) AS count
UNION ALL MATCH (n:Concept) RETURN 'node' AS kind, 'Concept' AS name, count(n) AS count
UNION ALL MATCH (n:VerbPhrase) RETURN 'node' AS kind, 'VerbPhrase' AS name, count(n) AS count
UNION ALL MATCH (n:QAPair) RETURN 'node' AS kind, 'QAPair' AS name, count(n) AS count
UNION ALL MATCH (n:Proposition) RETURN 'node' AS kind, 'Proposition' AS name, count(n) AS count
UNION ALL MATCH (n:Question) RETURN 'node' AS kind, 'Question' AS name, count(n) AS count
UNION ALL MATCH ()-[r:PART_OF]->() RETURN 'relationship' AS kind, 'PART_OF' AS name, count(r) AS count
UNION ALL MATCH ()-[r:NEXT]->() RETURN 'relationship' AS kind, 'NEXT' AS name, count(r) AS count
UNION ALL MATCH ()-[r:IN]->() RETURN 'relationship' AS kind, 'IN' AS name, count(r) AS count
UNION ALL MATCH ()-[r:PLAYS]->() RETURN 'relationship' AS kind, 'PLAYS' AS name, count(r) AS count
UNION ALL MATCH ()-[r:REFERS_TO]->() RETURN 'relationship' AS kind, 'REFERS_TO' AS name, count(r) AS count
