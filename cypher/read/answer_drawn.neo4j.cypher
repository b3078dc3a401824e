// What an answer stands on, for Neo4j Browser: the question, the pairs of its best chain by hop, the names that they are about and answered by, and their passages.
// A name of two documents joins two hops through its concept. $question: its id; $left_out: ids of entities that join nothing (dates, numbers, common words).
// An answer without chains: its first eight passages, and the names that two of them share. Runs in Browser, once an `ask --browse`.
MATCH (asked:Question {id: $question})
OPTIONAL MATCH (asked)-[used:USED]->(pair:QAPair) WHERE used.rank = 1
WITH asked, collect(pair) AS pairs, $left_out AS left_out
CALL (asked, pairs, left_out) {
  UNWIND pairs AS pair
  MATCH path = (asked)-[:USED]->(pair)-[:IN]->(:Passage)
  RETURN path
  UNION
  UNWIND pairs AS pair
  MATCH path = (pair)-[how:ABOUT|ANSWERED_BY]->(name:Entity)
  WHERE type(how) = 'ANSWERED_BY' OR NOT name.id IN left_out
  RETURN path
  UNION
  UNWIND pairs AS one
  UNWIND pairs AS two
  MATCH (one)-[:ABOUT|ANSWERED_BY]->(here:Entity)-[:REFERS_TO]->(concept:Concept)<-[:REFERS_TO]-(there:Entity)<-[:ABOUT|ANSWERED_BY]-(two)
  WHERE here.id < there.id AND NOT here.id IN left_out AND NOT there.id IN left_out
  MATCH path = (here)-[:REFERS_TO]->(concept)<-[:REFERS_TO]-(there)
  RETURN path
  UNION
  MATCH path = (asked)-[used:USED]->(:Passage)
  WHERE (pairs = [] AND used.rank <= 8) OR used.cited
  RETURN path
  UNION
  MATCH (asked)-[first:USED]->(one:Passage), (asked)-[second:USED]->(two:Passage)
  WHERE pairs = [] AND one.id < two.id AND first.rank <= 8 AND second.rank <= 8
  MATCH path = (one)<-[:IN]-(here:Entity)-[:REFERS_TO]->(:Concept)<-[:REFERS_TO]-(there:Entity)-[:IN]->(two)
  WHERE NOT here.id IN left_out AND NOT there.id IN left_out
  RETURN path
}
RETURN asked, path
