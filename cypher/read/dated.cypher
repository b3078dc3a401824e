// What is dated near some questions: the dates that stand in the passages nearest to each, and in those of its names, whose days lie within bounds; with the pairs
// that a date answers or that ask about it.
// $questions: [{embedding, keys, from_least, from_most, to_least, to_most}], keys what may be names in the question, bounds as ISO days, inclusive: of an interval's first
// day (from) and of its last (to). "Before D": to_most the day before D; "after": from_least the day after; "between": from_least and to_most; "during": from_most its last
// day, to_least its first. $near: passages of the vector index; $common: a name that stands in more passages than this brings none. "First" and "latest" are the order of `from`.
// Neo4j looks at as many nodes as it is asked for, and misses some of the nearest where these are few: so 50 more are asked for.
// One row a question, passage and date. Runs once an ask about a time, and once for the events and cells it looks up.
UNWIND range(0, size($questions) - 1) AS n
WITH n, $questions[n] AS question
CALL (question) {
  CALL db.index.vector.queryNodes('passage_embedding', $near + 50, question.embedding) YIELD node AS p, score
  RETURN p
  ORDER BY score DESC, p.id
  LIMIT $near
  UNION
  UNWIND question.keys AS key
  MATCH (:Concept {id: key})-[:ALIAS_OF*0..2]-(c:Concept)
  WHERE c.passages <= $common
  MATCH (c)<-[:REFERS_TO]-(:Entity)-[:IN]->(p:Passage)
  RETURN p
}
WITH DISTINCT n, question, p
MATCH (p)-[:PART_OF]->(:Document {status: 'ready'})
MATCH (p)<-[:IN]-(e:Entity)
WHERE e.from >= question.from_least AND e.from <= question.from_most AND e.to >= question.to_least AND e.to <= question.to_most
OPTIONAL MATCH (e)<-[:ANSWERED_BY|ABOUT]-(pair:QAPair)-[:IN]->(p)
WITH n, p, e, collect(DISTINCT {id: pair.id, question: pair.question, answers: pair.answers}) AS pairs
RETURN n, p.id AS passage, e.name AS date, e.from AS first, e.to AS last, [x IN pairs WHERE x.id IS NOT NULL] AS pairs
ORDER BY n, first, last, passage, date
