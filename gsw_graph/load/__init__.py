"""From documents to the graph, and what keeps the graph in order."""
