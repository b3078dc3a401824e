"""The constants of questions about time."""

from __future__ import annotations

from dataclasses import dataclass, field

from gsw_graph.retrieve.facts.recipe import FactRecipe
from gsw_graph.retrieve.recipes import LinkedRecipe, Recipe, count


@dataclass(frozen=True, slots=True)
class TimesRecipe(Recipe):
    """Of time-ordered retrieval. facts: how dates of events are found, and sentences read. common: passages
    in which a name of the question stands that still brings its dates. passage: what sharing all words of the
    question counts of a whole passage, where the same of a sentence counts `facts.words`. fits: what counts
    a date that holds. sure: score from which a sentence answers. pair: chance from which a pair does. near:
    how far below the best a sentence may be to be the first or the last."""

    facts: FactRecipe = field(default_factory=FactRecipe)
    common: int = count(30)
    passage: float = 0.3
    fits: float = 0.3
    sure: float = 1.0
    pair: float = 0.25
    near: float = 0.35
    linked: LinkedRecipe = field(default_factory=LinkedRecipe)


TIMES = TimesRecipe()
