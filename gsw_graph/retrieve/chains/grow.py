"""RICR: chains of question-answer pairs, grown hop by hop along a plan (Panini, section 2.3 and appendix C).
One Cypher query a level.

Departures from the published code, with reasons: docs/ricr.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from gsw_graph.names import WORD, normalise
from gsw_graph.plan import SubQuestion
from gsw_graph.retrieve.chains.chain_score import CHAIN_SCORES
from gsw_graph.retrieve.chains.pair_score import ConcreteQuestion, concrete

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.chains.candidates import Candidates, ScoredPair
    from gsw_graph.retrieve.recipes import ChainRecipe
    from gsw_graph.store.hops import Pair

    Find = Callable[[str, Sequence[ConcreteQuestion]], Candidates]
    Together = Callable[[Sequence[float]], float]

_JOINED = 100  # combinations of some parents, the best, that a join goes on with


@dataclass(frozen=True, slots=True)
class Link:
    """One hop of a chain: the concrete question asked at a step, the pair that answers it, and the answer
    that goes on."""

    step: int
    question: str
    concrete: str
    pair: Pair
    answer: str
    score: float
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BeamChain:
    """Links by step, and their score together."""

    links: Mapping[int, Link]
    score: float

    @property
    def hops(self) -> list[Link]:
        """The links, each after those it needs, so that the last one ends the chain; a step may need a
        later one of the plan."""
        return list(self.links.values())


@dataclass(slots=True)
class Considered:
    """A candidate of a concrete question and what became of it."""

    scored: ScoredPair
    fate: str = "not among the best candidates"


@dataclass(slots=True)
class Expansion:
    """A concrete question of a step, the chains that led to it, and what was found for it."""

    step: SubQuestion
    concrete: ConcreteQuestion
    parents: list[BeamChain] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    instead: ConcreteQuestion | None = (
        None  # the original question, asked where nothing was found for any chain of the step
    )


@dataclass(slots=True)
class Beams:
    """What RICR found: the chains of every step, best first, and the way there.

    planned: False where the question was taken apart without a plan. width: chains kept. asked: texts that
    candidates were looked for, and round_trips that took: a text that was asked before takes none.
    """

    plan: Plan
    width: int
    planned: bool = True
    chains: dict[int, list[BeamChain]] = field(default_factory=dict)
    expansions: list[Expansion] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    round_trips: int = 0

    def ends(self) -> list[BeamChain]:
        """The chains that reach an end of the plan, those of its last step first; without a plan the best
        first."""
        ends = [chain for step in reversed(self.plan.sinks) for chain in self.chains.get(step.id, [])]
        return ends if self.planned else sorted(ends, key=lambda chain: -chain.score)[: self.width]


def grow_chains(plan: Plan, question: str, find: Find, recipe: ChainRecipe, *, planned: bool = True) -> Beams:
    """Grow chains along a plan. `find` gives scored candidates for the concrete questions of a level, in
    one round trip."""
    beams, together = Beams(plan, recipe.beam, planned), CHAIN_SCORES[recipe.score]
    for level in plan.levels():
        by_step = {step.id: _expansions(step, beams, together) for step in level}
        expansions = [expansion for step in level for expansion in by_step[step.id]]
        candidates = _look_up(find, question, [one.concrete for one in expansions], beams)
        for expansion, scored in zip(expansions, candidates, strict=True):
            expansion.considered = [Considered(one) for one in scored]
        if lost := [
            one for step in level if not any(map(_usable, by_step[step.id])) for one in by_step[step.id]
        ]:
            _fall_back(lost, question, find, beams)
        beams.expansions += expansions
        for step in level:
            beams.chains[step.id] = _extend(by_step[step.id], plan, together, recipe)
    return beams


def _look_up(find: Find, question: str, asked: Sequence[ConcreteQuestion], beams: Beams) -> Candidates:
    new = {one.text for one in asked} - beams.asked
    beams.asked |= new
    beams.round_trips += bool(new)
    return find(question, asked)


def _fall_back(lost: Sequence[Expansion], question: str, find: Find, beams: Beams) -> None:
    """Ask the original question where nothing was found for any chain of a step."""
    instead = concrete(question, {k: f"#{k}" for k in SubQuestion(0, question).parents})  # "#1" is text here
    (scored,) = _look_up(find, question, [instead], beams)
    for expansion in lost:
        expansion.instead, expansion.considered = instead, [Considered(one) for one in scored]


def _expansions(step: SubQuestion, beams: Beams, together: Together) -> list[Expansion]:
    """The concrete questions of a step, each once, with the chains that lead to it."""
    expansions: dict[str, Expansion] = {}
    for parent in join([beams.chains.get(step_id, []) for step_id in step.parents], together, beams.width):
        asked = concrete(step.question, {step_id: parent.links[step_id].answer for step_id in step.parents})
        expansions.setdefault(normalise(asked.text) or asked.text, Expansion(step, asked)).parents.append(
            parent
        )
    return list(expansions.values())


def join(parents: Sequence[Sequence[BeamChain]], together: Together, beam: int) -> list[BeamChain]:
    """Chains of several parents as one: those that agree on the steps they share, evidence they share
    counted once; the `beam` best."""
    joined = [BeamChain({}, 1.0)]
    for chains in parents:
        agreeing = []
        for one, other in product(joined, chains):
            links = {**one.links, **other.links}
            if all(links[step] == link for step, link in one.links.items()):
                agreeing.append(BeamChain(links, together([link.score for link in links.values()])))
        joined = sorted(agreeing, key=lambda chain: -chain.score)[:_JOINED]
    return joined[:beam]


def _usable(expansion: Expansion) -> bool:
    return any(_refused(expansion, one.scored.pair) is None for one in expansion.considered)


def _refused(expansion: Expansion, pair: Pair) -> str | None:
    """Why a pair cannot extend a chain."""
    if not pair.answers:
        return "has no answer"
    asked = _words((expansion.instead or expansion.concrete).text)
    if all(_words(answer) in asked for answer in pair.answers):
        return "its answer stands in the question"
    return None


def _extend(
    expansions: Sequence[Expansion], plan: Plan, together: Together, recipe: ChainRecipe
) -> list[BeamChain]:
    """The best chains of one step over all its concrete questions: one for each answer, `recipe.beam` in all.

    Where a later join asks chains to agree on earlier steps, chains with other answers there are kept
    apart, or the join might find none that agree.
    """
    if not expansions:
        return []
    step = expansions[0].step
    goes_on = step.id not in {sink.id for sink in plan.sinks}
    apart = _agreed_later(plan, step.id)
    grown: list[tuple[BeamChain, tuple[str, ...], Considered]] = []
    for expansion in expansions:
        taken = 0
        for one in expansion.considered:
            if reason := _refused(expansion, one.scored.pair):
                one.fate = reason
                continue
            if taken == recipe.candidates:
                break
            taken += 1
            one.fate = "below the beam"
            answers = (
                one.scored.pair.answers[: recipe.beam] if goes_on else (", ".join(one.scored.pair.answers),)
            )
            for parent in expansion.parents:
                for answer in answers:
                    asked = (expansion.instead or expansion.concrete).text
                    links = {
                        **parent.links,
                        step.id: Link(
                            step.id,
                            step.question,
                            asked,
                            one.scored.pair,
                            answer,
                            one.scored.score,
                            one.scored.ways,
                        ),
                    }
                    key = (_key(answer), *(_key(links[earlier].answer) for earlier in apart))
                    grown.append(
                        (BeamChain(links, together([link.score for link in links.values()])), key, one)
                    )
    grown.sort(key=lambda entry: (-entry[0].score, entry[1], [link.pair.id for link in entry[0].hops]))
    kept: dict[tuple[str, ...], BeamChain] = {}
    for chain, key, one in grown:
        if key in kept:
            if one.fate != "kept":
                one.fate = "a better chain has the same answer"
        elif len(kept) < recipe.beam:
            kept[key] = chain
            one.fate = "kept"
    return list(kept.values())


def _agreed_later(plan: Plan, step: int) -> list[int]:
    """The ancestors of a step that a later join finds in a parent without that step too. A step that only
    compares joins nothing."""
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
