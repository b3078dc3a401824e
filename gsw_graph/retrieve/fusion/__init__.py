"""Walks and chains together."""
