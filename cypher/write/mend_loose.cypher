// Removes passages without a document, what occurs in no passage, and runs that lost all their edges: these are built again. Runs for `doctor --mend`.
MATCH (x)
WHERE x.id IS NOT NULL AND ((x:Passage AND NOT EXISTS { (x)-[:PART_OF|SUPERSEDED_IN]->(:Document) })
  OR (x:Run AND x.edges > 0 AND NOT EXISTS { (x)-[:HOLDS]->() })
  OR ((x:Entity OR x:VerbPhrase OR x:QAPair OR x:Proposition OR x:Run) AND NOT EXISTS { (x)-[:IN|REMOVED_FROM]->(:Passage)-[:PART_OF|SUPERSEDED_IN]->(:Document) }))
DETACH DELETE x
