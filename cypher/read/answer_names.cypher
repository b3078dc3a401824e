// The names that the pairs of an answer's best chain are about or answered by, or where it has none, those of its passages. $question: its id.
// `passages`: how many of the memory hold the name. Runs once an `ask --browse`.
MATCH (asked:Question {id: $question})
OPTIONAL MATCH (asked)-[used:USED]->(pair:QAPair) WHERE used.rank = 1
WITH asked, collect(pair) AS pairs
MATCH (asked)-[:USED]->(x)
WHERE x IN pairs OR (pairs = [] AND x:Passage)
MATCH (x)-[:IN|ABOUT|ANSWERED_BY]-(name:Entity)-[:REFERS_TO]->(concept:Concept)
RETURN DISTINCT name.id AS id, name.name AS name, name.from IS NOT NULL AS dated, concept.passages AS passages
