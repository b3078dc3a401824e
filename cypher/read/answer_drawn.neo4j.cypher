// What an answer is based on, for Neo4j Browser: the question, the pairs of its best chain by hop, the names that they are about and answered by, and their passages.
// A name of two documents joins two hops through its concept. $question: its id. Dates, numbers, common words and names of more than 50 passages join nothing.
// An answer without chains: its first eight passages, and the names through which walks go from one to another. Runs in Browser, once an `ask --browse`.
MATCH (asked:Question {id: $question})
OPTIONAL MATCH (asked)-[used:USED]->(pair:QAPair) WHERE used.rank = 1
WITH asked, collect(pair) AS pairs
CALL (asked, pairs) {
  UNWIND pairs AS pair
  MATCH path = (asked)-[:USED]->(pair)-[:IN]->(:Passage)
  RETURN path
  UNION
  UNWIND pairs AS pair
  MATCH path = (pair)-[how:ABOUT|ANSWERED_BY]->(name:Entity)
  WHERE how.position IS NOT NULL OR EXISTS { MATCH (name)-[:REFERS_TO]->(c:Concept) WHERE c.joins AND c.passages <= 50 }
  RETURN path
  UNION
  UNWIND pairs AS one
  UNWIND pairs AS two
  MATCH (one)-[:ABOUT|ANSWERED_BY]->(here:Entity)-[:REFERS_TO]->(concept:Concept)<-[:REFERS_TO]-(there:Entity)<-[:ABOUT|ANSWERED_BY]-(two)
  WHERE here.id < there.id AND concept.joins AND concept.passages <= 50
  MATCH path = (here)-[:REFERS_TO]->(concept)<-[:REFERS_TO]-(there)
  RETURN path
  UNION
  MATCH path = (asked)-[used:USED]->(:Passage)
  WHERE (pairs = [] AND used.rank <= 8) OR used.cited
  RETURN path
  UNION
  MATCH (asked)-[first:USED]->(one:Passage), (asked)-[second:USED]->(two:Passage)
  WHERE pairs = [] AND one.id < two.id AND first.rank <= 8 AND second.rank <= 8
  MATCH path = (one)-[:NAMES]->(concept:Concept)<-[:NAMES]-(two)
  WHERE concept.joins AND COUNT { (concept)<-[:NAMES]-() } <= 50
  RETURN path
}
RETURN asked, path
