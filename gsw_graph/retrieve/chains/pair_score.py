"""How well a pair answers a concrete question: eight features and a logistic scale, from vectors and words
alone. docs/ricr.md has how they were chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, normalise
from gsw_graph.naming.finding import names
from gsw_graph.plan import rewrite
from gsw_graph.retrieve.chains.answer_sort import NO_SORT, AskedSort, asked_sort, sort_fit
from gsw_graph.retrieve.chains.answer_type import fit, kinds, wanted
from gsw_graph.retrieve.families import family, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.store.hops import HopResult, Pair

FEATURES = ("pair", "original", "phrase", "passage", "names", "words", "kind", "sort")
# Fitted by bench/scorer.py; a score is a chance in [0, 1] that the pair gives the answer.
WEIGHTS = np.array([3.92, 1.97, 0.97, 2.88, 1.79, 1.05, 1.16, 0.36])
BIAS = 10.68

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ConcreteQuestion:
    """A sub-question with the answers of earlier hops in it. `text` is what is embedded; `relation` what
    is left of it without its names."""

    text: str
    relation: str
    kind: str | None
    names: frozenset[str]  # words of its names
    words: frozenset[str]  # the others, function words apart
    sort: AskedSort = NO_SORT


def concrete(question: str, answers: dict[int, str]) -> ConcreteQuestion:
    """The concrete question of a sub-question. `answers` by step."""
    text = " ".join(rewrite(question, lambda step: answers[step]).replace(" >> ", " ").split())
    known = {
        word for name in [*answers.values(), *(name for name, _ in names(text))] for word in words_of(name)
    }
    return ConcreteQuestion(
        text,
        relation_of(question),
        wanted(question),
        frozenset(known),
        words_of(text) - known,
        asked_sort(question),
    )


def relation_of(question: str) -> str:
    """A sub-question without the names and references in it: what it asks of them."""
    text = rewrite(question, lambda _: " ").replace(" >> ", " ")
    for name, _ in sorted(names(text), key=lambda found: -len(found[0])):
        text = text.replace(name, " ")
    return " ".join(text.replace("?", " ").split())


@lru_cache(maxsize=65536)
def words_of(text: str) -> frozenset[str]:
    """The words of a text in normal form, function words apart."""
    return frozenset(_WORD.findall(normalise(text))) - FUNCTION_WORDS - CONNECTORS


def features(
    asked: ConcreteQuestion,
    pairs: Sequence[Pair],
    hop: HopResult,
    question: NDArray[np.float32],
    original: NDArray[np.float32],
    relation: NDArray[np.float32],
) -> NDArray[np.float32]:
    """(pairs, 8): cosines of the pair with the concrete and with the original question, of its verb phrase
    with the relation asked for, of its passage with the concrete question; shares of the names and of the
    other words of the question that it has; and whether its answer is of the kind and the sort asked for."""
    numbers = [pair.number for pair in pairs]
    vectors = hop.pairs[numbers]
    found = np.empty((len(pairs), len(FEATURES)), dtype=np.float32)
    found[:, 0] = vectors @ question
    found[:, 1] = vectors @ original
    found[:, 2] = hop.phrases[numbers] @ relation
    found[:, 3] = hop.passages[numbers] @ question
    for row, pair in enumerate(pairs):
        own = words_of(pair.question)
        found[row, 4] = _share(asked.names, own | words_of(pair.title), nothing=0.5)
        found[row, 5] = told(asked.words, own.union(*map(words_of, pair.descriptions)))
        found[row, 6] = fit(asked.kind, kinds(pair.answers, pair.descriptions))
        found[row, 7] = sort_fit(asked.sort, pair.question, pair.answers, pair.descriptions)
    return found


def told(words: frozenset[str], own: Iterable[str]) -> float:
    """The share of some words that others say, in whatever form: "spouse" and "married"; 0 of none."""
    stems = {stem(word) for word in own}
    return sum(not stems.isdisjoint(family(word)) for word in words) / len(words) if words else 0.0


def scores(found: NDArray[np.float32]) -> NDArray[np.float64]:
    """Features (n, 8) to chances in [0, 1]."""
    chances: NDArray[np.float64] = 1 / (1 + np.exp(BIAS - found @ WEIGHTS))
    return chances


def _share(words: frozenset[str], own: Iterable[str], *, nothing: float) -> float:
    return len(words.intersection(own)) / len(words) if words else nothing
