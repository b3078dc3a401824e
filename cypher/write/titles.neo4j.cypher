// Gives what an older gswgraph wrote the `title` that Neo4j Browser shows: the question of a pair, the words asked, the beginning of a proposition.
// On Neo4j alone, as no other engine has Browser. Runs once a migration.
MATCH (n:QAPair|Question|Proposition)
WHERE n.title IS NULL
CALL (n) {
  SET n.title = coalesce(n.question, left(n.text, 80))
} IN TRANSACTIONS OF 10000 ROWS
