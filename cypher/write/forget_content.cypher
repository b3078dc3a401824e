// Deletes passages, and what occurred in them and now occurs in none: entities, verb phrases, question-answer pairs, propositions, runs. $passages.
UNWIND $passages AS id
MATCH (p:Passage {id: id})
OPTIONAL MATCH (p)<-[:IN|REMOVED_FROM]-(x)
WHERE x:Entity OR x:VerbPhrase OR x:QAPair OR x:Proposition OR x:Run
WITH collect(DISTINCT p) AS passages, collect(DISTINCT x) AS inside
FOREACH (p IN passages | DETACH DELETE p)
WITH inside
UNWIND inside AS x
WITH x
WHERE NOT EXISTS { (x)-[:IN|REMOVED_FROM]->(:Passage) }
DETACH DELETE x
