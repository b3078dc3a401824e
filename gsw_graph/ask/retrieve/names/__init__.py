"""The graph of names: linked in questions, walked over, kept by the client."""
