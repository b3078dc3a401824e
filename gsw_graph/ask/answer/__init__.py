"""Answers: what the evidence says, with its citations, or that the memory does not hold it."""

from gsw_graph.ask.answer.chains import from_chains

__all__ = ["from_chains"]
