"""How questions are answered from the graph: strategies, and the packages that they are made of."""
