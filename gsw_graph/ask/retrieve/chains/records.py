"""Links, chains and what a search for chains has considered."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from gsw_graph.model.results import QA, Candidate, Chain, Hop, HopTrace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gsw_graph.ask.plan import Plan, SubQuestion
    from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion
    from gsw_graph.store.facts import Pair


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Hold a pair, the searches that found it, and its score as an answer, in [0, 1]."""

    pair: Pair
    ways: tuple[str, ...]
    score: float

    @property
    def order(self) -> tuple[float, str]:
        """Return the key by which candidates are sorted, best first."""
        return -self.score, self.pair.id


@dataclass(frozen=True, slots=True)
class Link:
    """Hold a hop of a chain: the concrete question of a step, the pair that answers it, and the answer that
    the next hop uses."""

    step: int
    question: str
    concrete: str
    pair: Pair
    answer: str
    score: float
    ways: tuple[str, ...]

    def to_hop(self) -> Hop:
        """Return the hop as part of a result."""
        qa, ways = _qa(self.pair), list(self.ways)
        passage = self.pair.passage
        return Hop(self.step, self.question, self.concrete, self.answer, qa, passage, self.score, ways)


@dataclass(frozen=True, slots=True)
class BeamChain:
    """Links by step, and their score together."""

    links: Mapping[int, Link]
    score: float

    @property
    def hops(self) -> list[Link]:
        """Return the links, each after the links that it needs; the last ends the chain. The order may differ
        from the plan's, in which a step may need a later step."""
        return list(self.links.values())

    def to_chain(self) -> Chain:
        """Return the chain as part of a result."""
        return Chain(self.score, [link.to_hop() for link in self.hops])


@dataclass(slots=True)
class Considered:
    """Hold a candidate of a concrete question and its outcome."""

    scored: ScoredPair
    fate: str = "not among the best candidates"


@dataclass(slots=True)
class Expansion:
    """Hold a concrete question of a step, the chains that led to it, and its candidates.

    Attributes:
        fallback_question: The original question, asked if nothing was found for any chain of the step.
    """

    step: SubQuestion
    concrete: ConcreteQuestion
    parents: list[BeamChain] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    fallback_question: ConcreteQuestion | None = None

    @property
    def asked(self) -> ConcreteQuestion:
        """Return the question that the candidates answer."""
        return self.fallback_question or self.concrete

    def to_trace(self) -> HopTrace:
        """Return the expansion as part of a trace."""
        candidates = []
        for candidate in self.considered:
            scored = candidate.scored
            entry = Candidate(_qa(scored.pair), list(scored.ways), scored.score, candidate.fate)
            candidates.append(entry)
        return HopTrace(self.step.id, self.concrete.text, self.fallback_question is not None, candidates)


@dataclass(slots=True)
class ChainSearch:
    """Hold the result of RICR: the chains of every step, best first, and the expansions.

    Attributes:
        width: Number of chains kept for each step.
        planned: Whether the user or a model made the plan.
    """

    plan: Plan
    width: int
    planned: bool = True
    chains: dict[int, list[BeamChain]] = field(default_factory=dict)
    expansions: list[Expansion] = field(default_factory=list)

    def _by_end(self) -> list[list[BeamChain]]:
        return [self.chains.get(step.id, []) for step in reversed(self.plan.sinks)]

    def ends(self) -> list[BeamChain]:
        """Return the chains that reach an end of the plan: the best of each end, that of the last step first,
        then the second best of each, and so on; without a plan the best first."""
        ends = []
        for rank in zip_longest(*self._by_end()):
            ends += [chain for chain in rank if chain is not None]
        if self.planned:
            return ends
        return sorted(ends, key=lambda chain: -chain.score)[: self.width]

    def best(self) -> list[BeamChain]:
        """Return the best chain of each end of the plan, that of the last step first; without a plan the
        best."""
        if not self.planned:
            return self.ends()[:1]
        return [chains[0] for chains in self._by_end() if chains]


def _qa(pair: Pair) -> QA:
    return QA(pair.id, pair.question, list(pair.answers))
