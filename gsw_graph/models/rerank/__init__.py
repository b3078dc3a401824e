"""Reranking: how well a pair answers a question."""
