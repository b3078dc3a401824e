"""The constants of looking up a fact."""

from __future__ import annotations

from dataclasses import dataclass

from gsw_graph.retrieve.recipes import Recipe, count


@dataclass(frozen=True, slots=True)
class FactRecipe(Recipe):
    """Of one fact about one thing. near: passages of the vector index whose sentences are read. sure: chance
    from which a pair is a fact. words: what sharing all words of what is asked counts, where a cosine of 1
    counts 1; about: what a sentence counts that is surely about the thing. least: score from which a sentence
    is a fact. kept: facts of a question that are looked at."""

    near: int = count(10)
    sure: float = 0.25
    words: float = 0.6
    about: float = 0.3
    least: float = 0.6
    kept: int = count(5)
