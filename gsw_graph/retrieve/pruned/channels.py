"""Where runs come from: what documents say, and what answers to earlier questions used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.retrieve.pruned import runs
from gsw_graph.retrieve.pruned.selection import chosen

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.pruned.question import Asked
    from gsw_graph.retrieve.pruned.runs import Scored
    from gsw_graph.retrieve.recipes import PrunedRecipe


@dataclass(frozen=True)
class Past:
    """Statements, by id, that answers to questions like this one stood on, and that their chains went
    through."""

    answers: Sequence[str] = field(default_factory=list)
    thinking: Sequence[str] = field(default_factory=list)


def channels(context: Context, book: Codebook, asked: Asked, recipe: PrunedRecipe) -> dict[str, Scored]:
    """The chosen runs of each channel, by its name."""
    before = past(context)
    found = {
        "facts": runs.facts(book, asked, recipe),
        "answers": runs.past(book, before.answers, asked, recipe),
        "thinking": runs.past(book, before.thinking, asked, recipe),
    }
    choices = {"facts": recipe.facts, "answers": recipe.answers, "thinking": recipe.thinking}
    return {name: chosen(book, one, choices[name], recipe.same) for name, one in found.items()}


def past(context: Context) -> Past:  # noqa: ARG001
    """What earlier answers used. Questions that were kept have no vectors yet by which one that is like this
    could be found, so there is none."""
    return Past()
