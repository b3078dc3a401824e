"""A question as symbols and lines: the concepts it names, how it relates them, and what it asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.naming.finding import names
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

    @property
    def symbols(self) -> int:
        """How many symbols it has."""
        return len(self.concepts) + len(self.relations)


@dataclass(frozen=True)
class Texts:
    """What of a question is embedded: the question, its lines, its names, and what relates them."""

    question: str
    lines: tuple[str, ...]
    names: tuple[str, ...]
    relations: tuple[str, ...]

    @property
    def all(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys((self.question, *self.lines, *self.names, *self.relations)))


def texts(question: str, plan: Plan | None) -> Texts:
    """By rule: the question, or each sub-question of a plan, is a line; a line without its names is a
    relation."""
    steps = [step.question for level in plan.levels() for step in level] if plan is not None else []
    lines = [line for step in steps if (line := " ".join(_REFERENCE.sub(" ", step).split()))][:_LINES]
    lines = lines or [question]
    named = list(dict.fromkeys(name for name, begins in names(question) if not begins))
    relations = dict.fromkeys(text for line in lines if (text := _rest(line, named)))
    return Texts(question, tuple(lines), tuple(named), tuple(relations))


def read(context: Context, book: Codebook, of: Texts) -> Asked:
    """Its symbols in a codebook: the names that are concepts with the concepts' vectors, others by their
    text."""
    linked = link(mentions(of.question), book.concepts.numbers)
    numbers = np.array([book.concepts.numbers[one.key] for one in linked], dtype=np.intp)
    taken = [one.text for one in linked]
    others = [name for name in of.names if not any(name in text or text in name for text in taken)]
    vectors = context.vectors(of.all)

    def stacked(some: Sequence[str]) -> NDArray[np.float32]:
        shape = (len(some), len(vectors[of.question]))
        return np.array([vectors[text] for text in some], dtype=np.float32).reshape(shape)

    own = [book.concepts.unit(numbers)] if len(numbers) else []
    return Asked(linked, np.concatenate([*own, stacked(others)]), stacked(of.relations), stacked(of.lines))


def _rest(line: str, taken: Sequence[str]) -> str:
    """The words of a line without some names, empty where they say nothing."""
    for text in taken:
        line = line.replace(text, " ")
    words = [word[0] for word in WORD.finditer(line)]
    if all(word.casefold() in FUNCTION_WORDS | CONNECTORS for word in words):
        return ""
    return " ".join(words)
