"""AutoPrunedRetriever: runs of edges found by their symbols, then by what their edges say."""
