"""RICR: chains of question-answer pairs, grown hop by hop along a plan (Panini, section 2.3 and appendix C). One Cypher query a level.

Departures from the published code, with reasons: docs/ricr.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from gsw_graph.names import WORD, normalise
from gsw_graph.plan import SubQuestion
from gsw_graph.retrieve.chain_score import CHAIN_SCORES, DEFAULT
from gsw_graph.retrieve.pair_score import Concrete, concrete

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.candidates import Candidates, Scored
    from gsw_graph.store.hops import Pair

BEAM = 5  # chains kept for each sub-question
CANDIDATES = 15  # of one concrete question that may extend a chain
_JOINED = 100  # combinations of some parents, the best, that a join goes on with


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
        """The links, each after those it needs, so that the last one ends the chain; a step may need a later one of the plan."""
        return list(self.links.values())


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
    instead: Concrete | None = None  # the original question, asked where nothing was found for any chain of the step


@dataclass(slots=True)
class Beams:
    """What RICR found: the chains of every step, best first, and the way there. `planned` is False where the question was taken apart without a plan."""

    plan: Plan
    planned: bool = True
    chains: dict[int, list[Chain]] = field(default_factory=dict)
    asked: list[Asking] = field(default_factory=list)

    def ends(self) -> list[Chain]:
        """The chains that reach an end of the plan, those of its last step first; without a plan the best first."""
        ends = [chain for step in reversed(self.plan.sinks) for chain in self.chains.get(step.id, [])]
        return ends if self.planned else sorted(ends, key=lambda chain: -chain.score)[:BEAM]


def ricr(plan: Plan, question: str, find: Callable[[str, Sequence[Concrete]], Candidates], *, beam: int = BEAM, score: str = DEFAULT) -> Beams:
    """Grow chains along a plan. `find` gives scored candidates for concrete questions of a level, in one round trip; `score` is a key of CHAIN_SCORES."""
    beams, together = Beams(plan), CHAIN_SCORES[score]
    for level in plan.levels():
        asked = {step.id: _ask(step, beams, together, beam) for step in level}
        askings = [asking for step in level for asking in asked[step.id]]
        for asking, scored in zip(askings, find(question, [asking.concrete for asking in askings]), strict=True):
            asking.considered = [Considered(one) for one in scored]
        if lost := [asking for step in level if not any(map(_usable, asked[step.id])) for asking in asked[step.id]]:
            instead = concrete(question, {k: f"#{k}" for k in SubQuestion(0, question).parents})  # "#1" is text here
            (scored,) = find(question, [instead])
            for asking in lost:
                asking.instead, asking.considered = instead, [Considered(one) for one in scored]
        for step in level:
            beams.chains[step.id] = _extend(asked[step.id], plan, together, beam)
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
    joined = [Chain({}, 1.0)]
    for chains in parents:
        agreeing = []
        for one, other in product(joined, chains):
            links = {**one.links, **other.links}
            if all(links[step] == link for step, link in one.links.items()):
                agreeing.append(Chain(links, together([link.score for link in links.values()])))
        joined = sorted(agreeing, key=lambda chain: -chain.score)[:_JOINED]
    return joined[:beam]


def _usable(asking: Asking) -> bool:
    return any(_refused(asking, one.scored.pair) is None for one in asking.considered)


def _refused(asking: Asking, pair: Pair) -> str | None:
    """Why a pair cannot extend a chain."""
    if not pair.answers:
        return "has no answer"
    asked = _words((asking.instead or asking.concrete).text)
    if all(_words(answer) in asked for answer in pair.answers):
        return "its answer stands in the question"
    return None


def _extend(askings: Sequence[Asking], plan: Plan, together: Callable[[Sequence[float]], float], beam: int) -> list[Chain]:
    """The best chains of one step over all its concrete questions: one for each answer, `beam` in all.

    Where a later join asks chains to agree on earlier steps, chains with other answers there are kept apart, or the join might find none that agree.
    """
    if not askings:
        return []
    step = askings[0].step
    goes_on = step.id not in {sink.id for sink in plan.sinks}
    apart = _agreed_later(plan, step.id)
    grown: list[tuple[Chain, tuple[str, ...], Considered]] = []
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
                    asked = (asking.instead or asking.concrete).text
                    links = {**parent.links, step.id: Link(step.id, step.question, asked, one.scored.pair, answer, one.scored.score, one.scored.ways)}
                    key = (_key(answer), *(_key(links[earlier].answer) for earlier in apart))
                    grown.append((Chain(links, together([link.score for link in links.values()])), key, one))
    grown.sort(key=lambda entry: (-entry[0].score, entry[1], [link.pair.id for link in entry[0].hops]))
    kept: dict[tuple[str, ...], Chain] = {}
    for chain, key, one in grown:
        if key in kept:
            if one.fate != "kept":
                one.fate = "a better chain has the same answer"
        elif len(kept) < beam:
            kept[key] = chain
            one.fate = "kept"
    return list(kept.values())


def _agreed_later(plan: Plan, step: int) -> list[int]:
    """The ancestors of a step that a later join finds in a parent without that step too. A step that only compares joins nothing."""
    found: set[int] = set()
    for later in plan.steps:
        lines = [plan.ancestors(parent) | {parent} for parent in later.parents] if later.retrieve else []
        if any(step in line for line in lines):
            found.update(*(plan.ancestors(step) & line for line in lines if step not in line))
    return sorted(found)


def _words(text: str) -> str:
    """The words of a text in normal form, without the quotes and commas between them, in spaces."""
    name = normalise(text)
    return f" {' '.join(WORD.findall(name)) or name} "


def _key(answer: str) -> str:
    """The concept an answer stands for, in any document."""
    return normalise(answer) or answer
