"""Candidates of concrete questions: one embedding batch, one round trip, one rerank batch for all questions of a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gsw_graph.retrieve.linking import mentions
from gsw_graph.retrieve.pair_score import Concrete, features, scores
from gsw_graph.retrieve.words import lucene_words
from gsw_graph.store.hops import Asked, HopResult, Pair, hop

if TYPE_CHECKING:
    from gsw_graph.inference.reranker import Reranker
    from gsw_graph.retrieve.strategies import Search

RERANKED = 30  # candidates of one question that a reranker reads


@dataclass(frozen=True, slots=True)
class Scored:
    """A pair, the ways it came, and how well it answers, in [0, 1]."""

    pair: Pair
    ways: tuple[str, ...]
    score: float


Candidates: TypeAlias = "list[list[Scored]]"


class Finder:
    """Finds candidates for the levels of one question. A concrete question that was asked before is not asked again."""

    walked_from = 2  # chains of each end whose concrete questions the walk for passages starts from: the best may have gone astray

    def __init__(self, search: Search, reranker: Reranker | None) -> None:
        self._search, self._reranker = search, reranker
        self._known: dict[str, list[Scored]] = {}
        self.offered: dict[str, list[str]] = {}  # passages whose pairs are candidates of a concrete question too
        self.round_trips = 0

    def __call__(self, question: str, asked: Sequence[Concrete]) -> Candidates:
        """Scored candidates of each concrete question, best first."""
        new = list({one.text: one for one in asked if one.text not in self._known}.values())
        if new:
            self._known.update(zip((one.text for one in new), self._find(question, new), strict=True))
        return [self._known[one.text] for one in asked]

    def _find(self, question: str, asked: Sequence[Concrete]) -> Candidates:
        search = self._search
        vectors = search.vectors([question, *(text for one in asked for text in (one.text, one.relation))])
        self.round_trips += 1
        with search.clock("database"):
            found = hop(search.reader, [_asked(one, vectors[one.text], self.offered.get(one.text, [])) for one in asked])
        with search.clock("rerank"):
            ranked = [self._ranked(one, candidates, found, question, vectors) for one, candidates in zip(asked, found.candidates, strict=True)]
        if self._reranker is None:
            return ranked
        with search.clock("rerank"):
            return _reranked(self._reranker, asked, ranked)

    def _ranked(
        self, one: Concrete, candidates: Sequence[tuple[Pair, tuple[str, ...]]], found: HopResult, question: str, vectors: dict[str, np.ndarray]
    ) -> list[Scored]:
        if not candidates:
            return []
        pairs = [pair for pair, _ in candidates]
        chances = scores(features(one, pairs, found, vectors[one.text], vectors[question], vectors[one.relation]))
        order = sorted(range(len(pairs)), key=lambda n: (-chances[n], pairs[n].id))
        return [Scored(pairs[n], candidates[n][1], float(chances[n])) for n in order]


def _asked(one: Concrete, vector: np.ndarray, passages: list[str]) -> Asked:
    keys = list(dict.fromkeys(mention.key for mention in mentions(one.text)))
    return {"embedding": vector.tolist(), "words": lucene_words(one.text), "keys": keys, "passages": passages}


def _reranked(reranker: Reranker, asked: Sequence[Concrete], ranked: Candidates) -> Candidates:
    """The best candidates of each question as a reranker scores them, all in one call."""
    best = [candidates[:RERANKED] for candidates in ranked]
    read = [(one.text, document(scored.pair)) for one, candidates in zip(asked, best, strict=True) for scored in candidates]
    found = iter(reranker.score(read).tolist())
    rescored = [[Scored(scored.pair, scored.ways, next(found)) for scored in candidates] for candidates in best]
    return [sorted(candidates, key=lambda scored: (-scored.score, scored.pair.id)) for candidates in rescored]


def document(pair: Pair) -> str:
    """What a reranker reads of a pair: question, answers, roles and states."""
    return " ".join([pair.question, ", ".join(pair.answers), ", ".join(pair.descriptions)]).strip()
