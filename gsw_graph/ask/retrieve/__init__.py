"""How questions are answered from the graph: strategies, and the rooms of what they are made of."""
