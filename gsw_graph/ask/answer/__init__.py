"""Answers: what the evidence says, with its citations, or that the memory does not hold it."""
