"""RICR: chains of question-answer pairs, grown hop by hop along a plan (Panini, section 2.3 and appendix C). One Cypher query a level.

Departures from the published code, with reasons: docs/ricr.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING

from gsw_graph.names import normalise
from gsw_graph.retrieve.chain_score import CHAIN_SCORES, DEFAULT
from gsw_graph.retrieve.pair_score import Concrete, concrete

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.plan import Plan, SubQuestion
    from gsw_graph.retrieve.candidates import Candidates, Scored
    from gsw_graph.store.hops import Pair

BEAM = 5  # chains kept for each sub-question
CANDIDATES = 15  # of one concrete question that may extend a chain
_JOINED = 100  # combinations of parents that a join looks at


@dataclass(frozen=True, slots=True)
class Link:
    """One hop of a chain: the concrete question asked at a step, the pair that answers it, and the answer that goes on."""

    step: int
    question: str
    concrete: str
    pair: Pair
    answer: str
    score: float
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Links by step, and their score together."""

    links: Mapping[int, Link]
    score: float

    @property
    def hops(self) -> list[Link]:
        """The links in the order of the plan."""
        return [self.links[step] for step in sorted(self.links)]


@dataclass(slots=True)
class Considered:
    """A candidate of a concrete question and what became of it."""

    scored: Scored
    fate: str = "not among the best candidates"


@dataclass(slots=True)
class Asking:
    """A concrete question of a step, the chains that led to it, and what was found for it."""

    step: SubQuestion
    concrete: Concrete
    parents: list[Chain] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    fallback: bool = False  # nothing was found: the original question was asked instead


@dataclass(slots=True)
class Beams:
    """What RICR found: the chains of every step, best first, and the way there."""

    chains: dict[int, list[Chain]] = field(default_factory=dict)
    asked: list[Asking] = field(default_factory=list)

    def ends(self, plan: Plan) -> list[Chain]:
        """The chains that reach an end of the plan, those of its last step first."""
        return [chain for step in reversed(plan.sinks) for chain in self.chains.get(step.id, [])]


def ricr(plan: Plan, question: str, find: Callable[[str, Sequence[Concrete]], Candidates], *, beam: int = BEAM, score: str = DEFAULT) -> Beams:
    """Grow chains along a plan. `find` gives scored candidates for concrete questions of a level, in one round trip; `score` is a key of CHAIN_SCORES."""
    beams, together = Beams(), CHAIN_SCORES[score]
    for level in plan.levels():
        askings = [asking for step in level for asking in _ask(step, beams, together, beam)]
        found = find(question, [asking.concrete for asking in askings])
        lost = [asking for asking, scored in zip(askings, found, strict=True) if not _usable(asking, scored)]
        if lost and len(lost) == len(askings):
            instead = concrete(question, {})
            found = [find(question, [instead])[0]] * len(askings)
            for asking in askings:
                asking.fallback, asking.concrete = True, instead
        for asking, scored in zip(askings, found, strict=True):
            asking.considered = [Considered(one) for one in scored]
        for step in level:
            beams.chains[step.id] = _extend([asking for asking in askings if asking.step is step], plan, together, beam)
        beams.asked += askings
    return beams


def _ask(step: SubQuestion, beams: Beams, together: Callable[[Sequence[float]], float], beam: int) -> list[Asking]:
    """The concrete questions of a step, each once, with the chains that lead to it."""
    askings: dict[str, Asking] = {}
    for parent in join([beams.chains.get(step_id, []) for step_id in step.parents], together, beam):
        asked = concrete(step.question, {step_id: parent.links[step_id].answer for step_id in step.parents})
        askings.setdefault(normalise(asked.text) or asked.text, Asking(step, asked)).parents.append(parent)
    return list(askings.values())


def join(parents: Sequence[Sequence[Chain]], together: Callable[[Sequence[float]], float], beam: int) -> list[Chain]:
    """Chains of several parents as one: those that agree on the steps they share, evidence they share counted once; the `beam` best."""
    joined = []
    for chains in islice(product(*parents), _JOINED) if parents else [()]:
        links: dict[int, Link] = {}
        if all(links.setdefault(step, link) == link for chain in chains for step, link in chain.links.items()):
            joined.append(Chain(links, together([link.score for link in links.values()]) if links else 1.0))
    return sorted(joined, key=lambda chain: -chain.score)[:beam]


def _usable(asking: Asking, found: Sequence[Scored]) -> bool:
    return any(_refused(asking, one.pair) is None for one in found)


def _refused(asking: Asking, pair: Pair) -> str | None:
    """Why a pair cannot extend a chain."""
    if not pair.answers:
        return "has no answer"
    asked = f" {normalise(asking.concrete.text)} "
    if all(f" {normalise(answer)} " in asked for answer in pair.answers):
        return "its answer stands in the question"
    return None


def _extend(askings: Sequence[Asking], plan: Plan, together: Callable[[Sequence[float]], float], beam: int) -> list[Chain]:
    """The best chains of one step over all its concrete questions: one for each answer, `beam` in all."""
    if not askings:
        return []
    step = askings[0].step
    goes_on = step.id not in {sink.id for sink in plan.sinks}
    grown: list[tuple[Chain, str, Considered]] = []
    for asking in askings:
        taken = 0
        for one in asking.considered:
            if reason := _refused(asking, one.scored.pair):
                one.fate = reason
                continue
            if taken == CANDIDATES:
                break
            taken += 1
            one.fate = "below the beam"
            answers = one.scored.pair.answers[:beam] if goes_on else (", ".join(one.scored.pair.answers),)
            for parent in asking.parents:
                for answer in answers:
                    link = Link(step.id, step.question, asking.concrete.text, one.scored.pair, answer, one.scored.score, one.scored.ways)
                    links = {**parent.links, step.id: link}
                    grown.append((Chain(links, together([link.score for _, link in sorted(links.items())])), _key(answer), one))
    grown.sort(key=lambda entry: (-entry[0].score, entry[1], [link.pair.id for link in entry[0].hops]))
    kept: dict[str, Chain] = {}
    for chain, key, one in grown:
        if key in kept:
            if one.fate != "kept":
                one.fate = "a better chain has the same answer"
        elif len(kept) < beam:
            kept[key] = chain
            one.fate = "kept"
    return list(kept.values())


def _key(answer: str) -> str:
    """The concept an answer stands for, in any document."""
    return normalise(answer) or answer


