"""Plans: a question taken apart into sub-questions that wait for each other's answers."""

from gsw_graph.plan.reading import load, parse
from gsw_graph.plan.steps import Plan, SubQuestion, rewrite

__all__ = ["Plan", "SubQuestion", "load", "parse", "rewrite"]
