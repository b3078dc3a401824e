"""Strategies: a question goes in, ranked passages come out."""

STRATEGIES = ("auto", "linked", "ricr", "fusion", "proprag", "proprag-linked", "dense", "bm25")
