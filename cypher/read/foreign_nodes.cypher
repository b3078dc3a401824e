// Nodes with our labels that other people or tools made: they have no key. Runs for `doctor`.
MATCH (n:Document) WHERE n.id IS NULL RETURN 'Document' AS label, count(n) AS count
UNION ALL
MATCH (n:Passage) WHERE n.id IS NULL RETURN 'Passage' AS label, count(n) AS count
UNION ALL
MATCH (n:Entity) WHERE n.id IS NULL RETURN 'Entity' AS label, count(n) AS count
UNION ALL
MATCH (n:Concept) WHERE n.id IS NULL RETURN 'Concept' AS label, count(n) AS count
UNION ALL
MATCH (n:VerbPhrase) WHERE n.id IS NULL RETURN 'VerbPhrase' AS label, count(n) AS count
UNION ALL
MATCH (n:QAPair) WHERE n.id IS NULL RETURN 'QAPair' AS label, count(n) AS count
UNION ALL
MATCH (n:Proposition) WHERE n.id IS NULL RETURN 'Proposition' AS label, count(n) AS count
UNION ALL
MATCH (n:Question) WHERE n.id IS NULL RETURN 'Question' AS label, count(n) AS count
UNION ALL
MATCH (n:Run) WHERE n.id IS NULL RETURN 'Run' AS label, count(n) AS count
UNION ALL
MATCH (n:Role) WHERE n.name IS NULL RETURN 'Role' AS label, count(n) AS count
UNION ALL
MATCH (n:Relation) WHERE n.name IS NULL RETURN 'Relation' AS label, count(n) AS count
