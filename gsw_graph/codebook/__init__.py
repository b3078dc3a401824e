"""The symbol codebook: what passages say as edges between concepts, and edges in runs."""
