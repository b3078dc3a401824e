"""Strategies: a question goes in, ranked passages come out."""

STRATEGIES = ("auto", "linked", "ricr", "dense", "bm25")
