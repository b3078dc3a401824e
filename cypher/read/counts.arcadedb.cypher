// How many nodes and relationships of each kind, the missing ones too. The engine keeps these counts; MATCH and count would walk over all relationships.
// $end: of the labels and types of a named memory. Runs for `status` and around a load.
CALL meta.stats() YIELD value
UNWIND ['Passage', 'Entity', 'Role', 'Concept', 'VerbPhrase', 'QAPair', 'Proposition', 'Relation', 'Run', 'Question'] AS name
RETURN 'node' AS kind, name, coalesce(value.labels[name + $end], 0) AS count
UNION ALL
MATCH (n:Document) WHERE n.id IS NOT NULL WITH count(n) AS count RETURN 'node' AS kind, 'Document' AS name, count
UNION ALL
CALL meta.stats() YIELD value
UNWIND ['PART_OF', 'NEXT', 'IN', 'NAMES', 'PLAYS', 'REFERS_TO', 'ASKS', 'ANSWERED_BY', 'ABOUT', 'MENTIONS', 'RELATES_BY', 'HOLDS', 'ALIAS_OF'] AS name
RETURN 'relationship' AS kind, name, coalesce(value.relTypes[name + $end], 0) AS count
