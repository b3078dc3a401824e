"""The graph of propositions: paths through it, and walks over it."""
