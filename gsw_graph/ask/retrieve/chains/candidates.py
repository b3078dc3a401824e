"""Candidates for the hops of chains: pairs found in the graph and scored, or reranked."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, TypeAlias

from gsw_graph.ask.retrieve.chains.records import ScoredPair
from gsw_graph.ask.retrieve.entities import best_entities
from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.retrieve.names.walk import rank_passages
from gsw_graph.ask.retrieve.pair_score import features, scores
from gsw_graph.store.facts import HopQuestion, hop
from gsw_graph.values import unique

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gsw_graph.ask.retrieve.chains.records import BeamChain
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion, Floats
    from gsw_graph.ask.retrieve.recipes import ChainRecipe, FusionRecipe
    from gsw_graph.store.facts import HopResult, Pair

Candidates: TypeAlias = "list[list[ScoredPair]]"
Vectors: TypeAlias = "Mapping[str, Floats]"
_LEAST = 1e-9


class CandidateSearch:
    """Find candidates for the levels of one question. No concrete question is looked up twice.

    Attributes:
        round_trips: Levels that were looked up.
    """

    def __init__(self, context: RetrievalContext, recipe: ChainRecipe) -> None:
        self._context = context
        self._recipe = recipe
        self._reranker = context.reranker
        self.round_trips = 0
        self._known: dict[str, list[ScoredPair]] = {}
        self._offered: dict[str, list[str]] = {}  # passages whose pairs are candidates too, by question

    def __call__(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        """Return scored candidates of each concrete question, best first."""
        new = {item.text: item for item in questions if item.text not in self._known}
        if new:
            self.round_trips += 1
            found = self._find(question, list(new.values()))
            self._known.update(zip(new, found, strict=True))
        return [self._known[item.text] for item in questions]

    def _vectors(self, question: str, questions: Sequence[ConcreteQuestion]) -> Vectors:
        """Embed all texts that the level needs, in one batch."""
        texts = [question]
        for item in questions:
            texts += [item.text, item.relation]
        return self._context.vectors(texts)

    def _find(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        """Return scored candidates of the graph."""
        vectors = self._vectors(question, questions)
        result = self._hop(questions, vectors)
        original = vectors[question]
        found = zip(questions, result.candidates, strict=True)
        with self._context.clock("rerank"):
            ranked = [self._ranked(item, pairs, result, original, vectors) for item, pairs in found]
            return self._reranked(questions, ranked)

    def _hop(self, concretes: Sequence[ConcreteQuestion], vectors: Vectors) -> HopResult:
        recipe = self._recipe
        entities: dict[str, list[str]] = {}
        if recipe.entities and not recipe.concepts:
            vectors_of = {item.text: vectors[item.text] for item in concretes}
            entities = best_entities(self._context, vectors_of, recipe.entities)
        with self._context.clock("database"):
            questions = []
            for item in concretes:
                words, keys = "", []
                if recipe.entities and recipe.concepts:
                    words = lucene_words(item.text)
                    keys = unique(mention.key for mention in mentions(item.text))
                asked = HopQuestion(
                    embedding=vectors[item.text].tolist(),
                    words=words,
                    entities=entities.get(item.text, []),
                    keys=keys,
                    passages=self._offered.get(item.text, []),
                )
                questions.append(asked)
            limits = {"pairs": recipe.pairs, "entities": recipe.entities, "common": recipe.common}
            return hop(self._context.reader, questions, **limits)

    def _ranked(
        self,
        item: ConcreteQuestion,
        candidates: Sequence[tuple[Pair, tuple[str, ...]]],
        result: HopResult,
        original: Floats,
        vectors: Vectors,
    ) -> list[ScoredPair]:
        if not candidates:
            return []
        context = self._context
        pairs = [pair for pair, _ in candidates]
        asked, relation = vectors[item.text], vectors[item.relation]
        values = features(item, pairs, result, asked, original, relation)
        chances = scores(values, context.fit, fitted=context.is_fitted).tolist()
        scored = [ScoredPair(*found, chance) for found, chance in zip(candidates, chances, strict=True)]
        scored.sort(key=lambda candidate: candidate.order)
        return scored

    def _reranked(self, questions: Sequence[ConcreteQuestion], ranked: Candidates) -> Candidates:
        """Return the best candidates of each question as the reranker scores them, all in one call."""
        if self._reranker is None:
            return ranked
        best = [candidates[: self._recipe.reranked] for candidates in ranked]
        reads = []
        for item, candidates in zip(questions, best, strict=True):
            reads += [(item.text, document(candidate.pair)) for candidate in candidates]
        new_scores = iter(self._reranker.score(reads).tolist())
        results = []
        for candidates in best:
            rescored = [replace(candidate, score=next(new_scores)) for candidate in candidates]
            results.append(sorted(rescored, key=lambda candidate: candidate.order))
        return results

    def similarity(self, question: str, chains: Sequence[BeamChain]) -> list[float]:
        """Return the cosines of the original question and chains, each written as one text."""
        if not chains:
            return []
        texts = []
        for chain in chains:
            hops = [f"{hop.pair.question} {hop.answer}" for hop in chain.hops]
            texts.append(" ".join(hops))
        vectors = self._context.text_vectors(texts)
        cosines: list[float] = (vectors @ self._context.vector(question)).tolist()
        return cosines


def document(pair: Pair) -> str:
    """Return the text of a pair for a reranker: question, answers, roles and states."""
    answers, descriptions = ", ".join(pair.answers), ", ".join(pair.descriptions)
    return f"{pair.question} {answers} {descriptions}".strip()


class WalkingCandidateSearch(CandidateSearch):
    """Find candidates for the levels of one question, and score them with the walk of each concrete
    question."""

    def __init__(self, context: RetrievalContext, recipe: FusionRecipe) -> None:
        super().__init__(context, recipe.chains)
        self._fusion = recipe

    def _find(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        context, recipe = self._context, self._fusion
        self._vectors(question, questions)
        texts = [item.text for item in questions]
        graph, near = fetch_neighbourhood(context, texts, recipe.walk)
        walks = []
        with context.clock("rank"):
            for query in zip(texts, near, strict=True):
                walked = rank_passages(graph, [query], recipe.walked, recipe.walk)
                self._offered[query[0]] = walked.passages[: recipe.offered]
                walks.append(walked)
        candidates = super()._find(question, questions)
        weight = recipe.walk_weight
        found = zip(candidates, walks, strict=True)
        return [rescored(pairs, walked.shares(), weight) for pairs, walked in found]


def rescored(
    candidates: Sequence[ScoredPair], shares: Mapping[str, float], walk_weight: float
) -> list[ScoredPair]:
    """Return candidates scored anew, best first: walk_weight * (sqrt(share) - 1/2) is added to the logit.
    shares: Weights of passages by a walk, 1 for the best."""
    results = []
    for candidate in candidates:
        share = shares.get(candidate.pair.passage, 0.0)
        chance = min(max(candidate.score, _LEAST), 1 - _LEAST)
        logit = log(chance / (1 - chance))
        logit += walk_weight * (share**0.5 - 0.5)
        results.append(replace(candidate, score=1 / (1 + exp(-logit))))
    return sorted(results, key=lambda candidate: candidate.order)
