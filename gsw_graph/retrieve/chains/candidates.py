"""Candidates of concrete questions: one embedding batch, one round trip, one rerank batch for all
questions of a level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gsw_graph.retrieve.chains.pair_score import ConcreteQuestion, features, scores
from gsw_graph.retrieve.names.linking import lucene_words, mentions
from gsw_graph.store.hops import HopQuestion, HopResult, Pair, hop

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.inference.rerank.reranker import Reranker
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import ChainRecipe

    Vectors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair, the ways it came, and how well it answers, in [0, 1]."""

    pair: Pair
    ways: tuple[str, ...]
    score: float


Candidates: TypeAlias = "list[list[ScoredPair]]"


class CandidateSearch:
    """Finds candidates for the levels of one question. A concrete question that was asked before is not
    asked again."""

    def __init__(self, context: Context, recipe: ChainRecipe) -> None:
        self._context, self._recipe = context, recipe
        self._reranker = context.reranker
        self._known: dict[str, list[ScoredPair]] = {}

    def __call__(self, question: str, asked: Sequence[ConcreteQuestion]) -> Candidates:
        """Scored candidates of each concrete question, best first."""
        new = list({one.text: one for one in asked if one.text not in self._known}.values())
        if new:
            self._known.update(zip((one.text for one in new), self._find(question, new), strict=True))
        return [self._known[one.text] for one in asked]

    def _find(self, question: str, asked: Sequence[ConcreteQuestion]) -> Candidates:
        return self._of_graph(question, asked, {})

    def _vectors(self, question: str, asked: Sequence[ConcreteQuestion]) -> Vectors:
        """Of all texts that the level needs, in one batch."""
        return self._context.vectors(
            [question, *(text for one in asked for text in (one.text, one.relation))]
        )

    def _of_graph(
        self, question: str, asked: Sequence[ConcreteQuestion], offered: Mapping[str, list[str]]
    ) -> Candidates:
        """What the graph has, scored. offered: passages whose pairs are candidates of a concrete question
        too."""
        vectors = self._vectors(question, asked)
        found = self._hop(asked, vectors, offered)
        with self._context.clock("rerank"):
            ranked = [
                _ranked(one, candidates, found, vectors[question], vectors)
                for one, candidates in zip(asked, found.candidates, strict=True)
            ]
            return (
                ranked
                if self._reranker is None
                else _reranked(self._reranker, asked, ranked, self._recipe.reranked)
            )

    def _hop(
        self, asked: Sequence[ConcreteQuestion], vectors: Vectors, offered: Mapping[str, list[str]]
    ) -> HopResult:
        recipe = self._recipe
        limits = {"pairs": recipe.pairs, "entities": recipe.entities, "common": recipe.common}
        with self._context.clock("database"):
            questions = [_hop_question(one, vectors[one.text], offered.get(one.text, [])) for one in asked]
            return hop(self._context.reader, questions, **limits)


def _hop_question(one: ConcreteQuestion, vector: NDArray[np.float32], passages: list[str]) -> HopQuestion:
    keys = list(dict.fromkeys(mention.key for mention in mentions(one.text)))
    return {"embedding": vector.tolist(), "words": lucene_words(one.text), "keys": keys, "passages": passages}


def _ranked(
    one: ConcreteQuestion,
    candidates: Sequence[tuple[Pair, tuple[str, ...]]],
    found: HopResult,
    original: NDArray[np.float32],
    vectors: Vectors,
) -> list[ScoredPair]:
    if not candidates:
        return []
    pairs = [pair for pair, _ in candidates]
    chances = scores(features(one, pairs, found, vectors[one.text], original, vectors[one.relation]))
    order = sorted(range(len(pairs)), key=lambda n: (-chances[n], pairs[n].id))
    return [ScoredPair(pairs[n], candidates[n][1], float(chances[n])) for n in order]


def _reranked(
    reranker: Reranker, asked: Sequence[ConcreteQuestion], ranked: Candidates, most: int
) -> Candidates:
    """The `most` best candidates of each question as a reranker scores them, all in one call."""
    best = [candidates[:most] for candidates in ranked]
    read = [
        (one.text, document(scored.pair))
        for one, candidates in zip(asked, best, strict=True)
        for scored in candidates
    ]
    found = iter(reranker.score(read).tolist())
    rescored = [
        [ScoredPair(scored.pair, scored.ways, next(found)) for scored in candidates] for candidates in best
    ]
    return [sorted(candidates, key=lambda scored: (-scored.score, scored.pair.id)) for candidates in rescored]


def document(pair: Pair) -> str:
    """What a reranker reads of a pair: question, answers, roles and states."""
    return " ".join([pair.question, ", ".join(pair.answers), ", ".join(pair.descriptions)]).strip()
