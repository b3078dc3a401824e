"""A question as symbols and lines: the concepts it names, how it relates them, and what it asks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.retrieve.names.linking import Mention, link, mentions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pruned.codebook import Codebook

_LINES = 4  # of a question: what one-to-one matching costs doubles with each
_REFERENCE = re.compile(r"#\d+")


@dataclass(frozen=True)
class Asked:
    """What is looked for. linked: names of the question that are concepts. concepts, relations, lines: unit
    vectors (n, dimension)."""

    linked: list[Mention]
    concepts: NDArray[np.float32]
    relations: NDArray[np.float32]
    lines: NDArray[np.float32]


def lines_of(question: str, plan: Plan | None) -> list[str]:
    """The sub-questions of a plan without its references, else the question."""
    steps = [step.question for level in plan.levels() for step in level] if plan is not None else []
    lines = [line for step in steps if (line := " ".join(_REFERENCE.sub(" ", step).split()))]
    return lines[:_LINES] or [question]


def read(context: Context, book: Codebook, question: str, lines: list[str]) -> Asked | None:
    """Its symbols, None where it has none: the names that are concepts, by the concepts' vectors; what is
    near the question as a whole; and for relations what is near each of its lines.

    The public code has another model take a question apart in triples, and finds nothing where that gives
    none. Names and the words between them embedded one by one found as much as the lines do and took twice
    the time (docs/pruned.md).
    """
    linked = link(mentions(question), book.concepts.numbers)
    if not linked and not _says(question):
        return None
    numbers = np.array([book.concepts.numbers[one.key] for one in linked], dtype=np.intp)
    vectors = context.vectors([question, *lines])
    asked = np.stack([vectors[line] for line in lines])
    return Asked(linked, np.concatenate([vectors[question][None], book.concepts.unit(numbers)]), asked, asked)


def _says(question: str) -> bool:
    """Whether it has a word that says something."""
    words = (word[0].casefold() for word in WORD.finditer(question))
    return any(word not in FUNCTION_WORDS | CONNECTORS for word in words)
