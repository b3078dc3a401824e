// Removes passages without a document, and what stands in no passage. Runs for `doctor --mend`.
MATCH (x)
WHERE (x:Passage AND NOT EXISTS { (x)-[:PART_OF]->(:Document) })
  OR ((x:Entity OR x:VerbPhrase OR x:QAPair OR x:Proposition OR x:Run) AND NOT EXISTS { (x)-[:IN]->(:Passage)-[:PART_OF]->(:Document) })
DETACH DELETE x
