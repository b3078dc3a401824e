// The names that the pairs of an answer's best chain are about or answered by, or where it has none, those that two of its first eight passages share. $question: its id.
// `passages`: how many of the memory hold the name. Runs once an `ask --browse`.
MATCH (asked:Question {id: $question})
OPTIONAL MATCH (asked)-[used:USED]->(pair:QAPair) WHERE used.rank = 1
WITH asked, collect(pair) AS pairs
MATCH (asked)-[used:USED]->(x)
WHERE x IN pairs OR (pairs = [] AND x:Passage AND used.rank <= 8)
MATCH (x)-[:IN|ABOUT|ANSWERED_BY]-(name:Entity)-[:REFERS_TO]->(concept:Concept)
WITH pairs, concept, collect(DISTINCT name) AS names, count(DISTINCT x) AS shared
WHERE pairs <> [] OR shared > 1
UNWIND names AS name
RETURN DISTINCT name.id AS id, name.name AS name, name.from IS NOT NULL AS dated, concept.passages AS passages
