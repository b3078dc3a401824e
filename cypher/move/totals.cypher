// How many nodes and relationships there are, of whatever kind. Runs twice on either side of a copy.
MATCH (n)
WITH count(n) AS nodes
OPTIONAL MATCH ()-[r]->()
RETURN nodes, count(r) AS relationships
