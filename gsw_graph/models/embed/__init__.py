"""Embedding: texts to vectors, on the client."""
