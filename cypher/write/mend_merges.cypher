// Removes merges that are no star: of a concept with itself or with an alias, and of an alias of two. Runs for `doctor --mend`.
MATCH (alias:Concept)-[merged:ALIAS_OF]->(concept)
WHERE concept.id IS NULL OR concept = alias OR EXISTS { (concept)-[:ALIAS_OF]->() } OR COUNT { (alias)-[:ALIAS_OF]->() } > 1
DELETE merged
