"""The constants of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field

from gsw_graph.retrieve.facts.recipe import FactRecipe
from gsw_graph.retrieve.recipes import LinkedRecipe, Recipe


@dataclass(frozen=True, slots=True)
class MatrixRecipe(Recipe):
    """Of a comparison matrix. facts: how its cells are filled. linked: of the
    walk that brings the passages after those of the cells."""

    facts: FactRecipe = field(default_factory=FactRecipe)
    linked: LinkedRecipe = field(default_factory=LinkedRecipe)


MATRIX = MatrixRecipe()
