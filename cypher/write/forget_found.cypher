// Deletes what stands in some passages and nowhere else; the passages stay: entities, verb phrases, question-answer pairs, propositions, runs. $passages.
UNWIND $passages AS id
MATCH (:Passage {id: id})<-[i:IN]-(x)
WHERE x:Entity OR x:VerbPhrase OR x:QAPair OR x:Proposition OR x:Run
WITH collect(i) AS places, collect(DISTINCT x) AS inside
FOREACH (i IN places | DELETE i)
WITH inside
UNWIND inside AS x
WITH x
WHERE NOT EXISTS { (x)-[:IN]->(:Passage) }
DETACH DELETE x
