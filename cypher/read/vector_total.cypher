// How many vectors the memory has. Runs when indexes are built and after a load.
CALL () { MATCH (p:Passage) RETURN count(p) AS passages }
CALL () { MATCH (q:QAPair) RETURN count(q) AS pairs }
CALL () { MATCH (f:Proposition) RETURN count(f) AS propositions }
RETURN passages + pairs + propositions AS vectors
