// How many vectors the memory has. Runs when indexes are built and after a load.
MATCH (p:Passage) WITH count(p) AS passages
MATCH (q:QAPair) WITH passages, count(q) AS pairs
MATCH (f:Proposition) WITH passages, pairs, count(f) AS propositions
RETURN passages + pairs + propositions AS vectors
