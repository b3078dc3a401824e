"""PathwiseRAG: what a question asks for, the strategy that fits, a network of sub-problems, paths."""
