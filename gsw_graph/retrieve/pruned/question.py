"""A question as symbols and lines: the concepts it names, how it relates them, and what it asks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.naming.finding import names
from gsw_graph.retrieve.names.linking import Mention, link, mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def read(context: Context, book: Codebook, question: str, plan: Plan | None) -> Asked:
    """By rule: names that are concepts, and names that are none by their text; what is left of the question,
    or of each sub-question of a plan, without its names is a relation; the question, or each sub-question, is
    a line."""
    lines = [question]
    if plan is not None:
        lines = [_REFERENCE.sub("", step.question) for level in plan.levels() for step in level][:_LINES] or lines
    linked = link(mentions(question), book.concepts.numbers)
    taken = [mention.text for mention in linked]
    others = [name for name, single in names(question) if not single and not any(name in text or text in name for text in taken)]
    relations = [text for text in dict.fromkeys(_rest(line, [*taken, *others]) for line in lines) if text]
    vectors = context.text_vectors([*others, *relations])
    numbers = np.array([book.concepts.numbers[mention.key] for mention in linked], dtype=np.intp)
    own = book.concepts.unit(numbers) if len(numbers) else np.zeros((0, vectors.shape[1]), np.float32)
    asked = context.vectors(lines)
    return Asked(
        linked,
        np.concatenate([own, vectors[: len(others)]]),
        vectors[len(others) :],
        np.stack([asked[line] for line in lines]),
    )


def _rest(line: str, taken: Sequence[str]) -> str:
    """The words of a line that say something, without its names."""
    for text in taken:
        line = line.replace(text, " ")
    words = [word[0] for word in WORD.finditer(line)]
    if all(word.casefold() in FUNCTION_WORDS | CONNECTORS for word in words):
        return ""
    return " ".join(words)
