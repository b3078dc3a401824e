// Joins concepts to the one that they are. $rows: [{alias, canonical, score, reason, method, run, at}].
// A group is a star: an alias has one canonical concept and no aliases of its own. What another process merged otherwise meanwhile stays as it is.
// Result: the aliases that were joined. Runs once a batch of a merge.
UNWIND $rows AS row
MATCH (alias:Concept {id: row.alias}), (concept:Concept {id: row.canonical})
WHERE NOT (alias)-[:ALIAS_OF]-() AND NOT (concept)-[:ALIAS_OF]->()
WITH collect({row: row, alias: alias, concept: concept}) AS found
UNWIND found AS one
WITH one.row AS row, one.alias AS alias, one.concept AS concept
CREATE (alias)-[:ALIAS_OF {score: row.score, reason: row.reason, method: row.method, run: row.run, at: row.at}]->(concept)
RETURN alias.id AS alias
