"""Sentences of passages, and which of them speak of what is asked.

For memories of plain text, which hold no pairs. What departs from reading: no pronoun is followed, so a
sentence counts as being about its own names and about the title of its passage. These rules and their
weights are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from sentencex import segment

from gsw_graph.naming.finding import names
from gsw_graph.retrieve.chains.pair_score import words_of
from gsw_graph.retrieve.facts.families import cues, stems
from gsw_graph.retrieve.times.intervals import Span, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.facts.recipe import FactRecipe

_MOST = 80  # sentences of a passage that are read
_LONG = 600  # characters; a longer sentence is cut
_MARKS = re.compile(r"[*_#`]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a passage, its place in it, and its stretches of time."""

    passage: RankedPassage
    number: int
    text: str
    spans: tuple[Span, ...]

    @property
    def whole(self) -> str:
        """With the title, as it is embedded."""
        return f"{self.passage.title}: {self.text}" if self.passage.title else self.text


def lines_of(passages: Iterable[RankedPassage]) -> list[Line]:
    """The sentences of some passages."""
    return [
        Line(passage, number, text, tuple(spans(text)))
        for passage in passages
        for number, text in enumerate(_sentences(passage.title, passage.text))
    ]


@lru_cache(maxsize=256)
def _sentences(title: str, text: str) -> tuple[str, ...]:
    body = text.removeprefix(f"{title}\n")
    found = []
    for block in re.split(r"\n\s*\n|^#.*$", body[:50_000], flags=re.MULTILINE):
        even = " ".join(_MARKS.sub("", block).split())
        found += [one.strip()[:_LONG] for one in segment("en", even) if one.strip()]
    return tuple(found[:_MOST])


class Sentences:
    """Scores sentences for what is asked; a sentence is embedded once a question."""

    def __init__(self, context: Context, recipe: FactRecipe) -> None:
        self._context, self._recipe = context, recipe
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def scores(self, asked: str, subject: str, lines: Sequence[Line]) -> NDArray[np.float64]:
        """(lines,): cosine with the question, the share of its words that a line has, and whether it is
        about the subject ("" for none)."""
        if not lines:
            return np.zeros(0)
        if new := [text for text in dict.fromkeys(line.whole for line in lines) if text not in self._vectors]:
            self._vectors.update(zip(new, self._context.text_vectors(new), strict=True))
        vector = self._context.vector(asked)
        cosines = np.array([float(self._vectors[line.whole] @ vector) for line in lines])
        wanted = cues(without(asked, subject))
        shares = np.array([share(wanted, line) for line in lines])
        abouts = np.array([about(subject, line) for line in lines])
        return np.asarray(cosines + self._recipe.words * shares + self._recipe.about * abouts)


def share(wanted: Sequence[frozenset[str]], line: Line) -> float:
    """The share of some families of words that a line or, half, its title has."""
    if not wanted:
        return 0.0
    own = {word for word, _ in stems(line.text)}
    title = {word for word, _ in stems(line.passage.title)}
    return sum(1.0 if one & own else 0.5 if one & title else 0.0 for one in wanted) / len(wanted)


def about(subject: str, line: Line) -> float:
    """1 where the subject is named in the line, or is its passage's title; half where only its passage names
    it."""
    wanted = words_of(subject)
    if not wanted:
        return 0.0
    title = words_of(line.passage.title)
    if wanted <= words_of(line.text) or (title and (wanted <= title or title <= wanted)):
        return 1.0
    if not wanted <= words_of(line.passage.text):
        return 0.0
    last = subject.split()[-1].casefold()  # "the brewery" is the one that the passage names
    return 1.0 if re.search(rf"\bthe {re.escape(last)}\b", line.text.casefold()) else 0.5


def without(text: str, subject: str) -> str:
    """A question without what it is about, and without its other names."""
    left = text.replace(subject, " ") if subject else text
    for name, _ in names(left):
        if name.lower() != name and len(name.split()) > 1:
            left = left.replace(name, " ")
    return left
