// Deletes what occurs in some passages and nowhere else; the passages stay: entities, verb phrases, question-answer pairs, propositions, runs. $passages.
UNWIND $passages AS id
MATCH (p:Passage {id: id})
OPTIONAL MATCH (p)<-[i:IN|REMOVED_FROM]-(x)
WHERE x:Entity OR x:VerbPhrase OR x:QAPair OR x:Proposition OR x:Run
WITH collect(DISTINCT p) AS passages, collect(i) AS places, collect(DISTINCT x) AS inside
FOREACH (i IN places | DELETE i)
WITH passages, inside
CALL (passages) {
  UNWIND passages AS p
  MATCH (p)-[n:NAMES]->(:Concept)
  DELETE n
  RETURN count(*) AS names
}
WITH inside
WITH inside
UNWIND inside AS x
WITH x
WHERE NOT EXISTS { (x)-[:IN|REMOVED_FROM]->(:Passage) }
DETACH DELETE x
