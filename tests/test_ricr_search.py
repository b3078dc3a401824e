"""Beam search against a search of everything, on random graphs. It knows nothing of beams: it tries each pair and each answer at each step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from chain_fakes import plan, scored

from gsw_graph.plan import Plan
from gsw_graph.retrieve.candidates import Scored
from gsw_graph.retrieve.pair_score import Concrete
from gsw_graph.retrieve.ricr import Beams, Chain, ricr

SEEDS = range(40)
ORIGINAL = "original"  # nothing is found for it, so that falling back changes nothing

SCORES: dict[str, Callable[[Sequence[float]], float]] = {
    "geometric": lambda s: math.prod(max(one, 1e-6) for one in s) ** (1 / len(s)),
    "panini_code": lambda s: math.prod((one + 1) / 2 for one in s) ** (1 / len(s)),
    "product": math.prod,
    "last_hop": lambda s: s[-1],
}

# Each step's answer goes into one other, or the others are sinks of their own: what is best up to a step is best for all that follows.
TREES = {
    "one": plan("a"),
    "linear 2": plan("a", "b #1"),
    "linear 4": plan("a", "b #1", "c #2", "d #3"),
    "join": plan("a", "b", "c #1 #2"),
    "join of three": plan("a", "b", "c", "d #1 #2 #3"),
    "join in the middle": plan("a", "b", "c #2", "d #1 #3", "e #4"),
    "fork": plan("a", "b #1", "c #1"),
    "one hop beside two": plan("a", "b #1", "c"),
    "three sinks": plan("a", "b #1", "c #2", "d #1", "e", compare="is #3 #4 #5"),
}
# A step's answer goes into several that meet again. A chain for each answer may forget with which earlier answer it agreed, unless the answers tell.
DIAMONDS = {
    "diamond": plan("a", "b #1", "c #1", "d #2 #3"),
    "triangle": plan("a", "b #1", "c #1 #2"),
    "diamond with a tail": plan("a", "b #1", "c #1", "d #2 #3", "e #4"),
    "diamond and a sink": plan("a", "b #1", "c #1", "d #2 #3", "e #1"),
}


@dataclass
class World:
    """Random pairs for every question that can be asked. `telling`: each question has answers of its own, so that an answer tells how it was reached."""

    seed: int
    telling: bool = False

    def pairs(self, text: str) -> list[Scored]:
        if text == ORIGINAL:
            return []
        rng = random.Random(f"{self.seed} {text}")
        own = text.replace(" ", "") if self.telling else text[0]
        found = []
        for n in range(rng.choice((1, 2, 2) if self.telling else (0, 1, 2, 3, 3))):
            names = rng.sample([f"{own}{i}" for i in range(4)], rng.choice((1, 1, 2)))
            if rng.random() < 0.15:
                names = []
            elif rng.random() < 0.15:
                names = text.split()[-1:]  # stands in the question
            found.append(scored(f"{text}: {n}", 0.0 if rng.random() < 0.1 else rng.random(), *names))
        return sorted(found, key=lambda one: (-one.score, one.pair.id))

    def __call__(self, question: str, asked: Sequence[Concrete]) -> list[list[Scored]]:
        return [self.pairs(one.text) for one in asked]


Assignment = tuple[tuple[int, str, str], ...]


def everything(plan: Plan, step: int, world: World, score: str) -> dict[Assignment, float]:
    """Every way to answer a step with all that it needs, and its score."""
    steps = sorted({*plan.ancestors(step), step})
    sinks = {one.id for one in plan.sinks}
    ways: list[dict[int, tuple[str, str, float]]] = [{}]
    for number in steps:  # no plan above refers forward
        longer = []
        for way in ways:
            text = plan.steps[number - 1].concrete({k: answer for k, (_, answer, _) in way.items()})
            for one in world.pairs(text):
                if one.pair.answers and not set(one.pair.answers) <= set(text.split()):
                    said = [", ".join(one.pair.answers)] if number in sinks else one.pair.answers
                    longer += [{**way, number: (one.pair.id, answer, one.score)} for answer in said]
        ways = longer
    return {tuple((k, *way[k][:2]) for k in steps): SCORES[score]([way[k][2] for k in steps]) for way in ways}


def assignment(chain: Chain) -> Assignment:
    return tuple(sorted((step, link.pair.id, link.answer) for step, link in chain.links.items()))


def best_by_answer(every: dict[Assignment, float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for way, score in every.items():
        best[way[-1][2]] = max(score, best.get(way[-1][2], 0.0))
    return best


def check_that_chains_are_true(plan: Plan, beams: Beams, world: World, score: str, beam: int) -> None:
    """Each chain is a way that there is, with its score; best first, one for each answer, no more than the beam."""
    for step in plan.steps:
        if step.retrieve:
            chains = beams.chains[step.id]
            every = everything(plan, step.id, world, score)
            for chain in chains:
                assert chain.score == pytest.approx(every[assignment(chain)], rel=1e-9, abs=1e-15)
            assert [chain.score for chain in chains] == sorted((chain.score for chain in chains), reverse=True)
            assert len({chain.links[step.id].answer for chain in chains}) == len(chains) <= beam


def check_that_nothing_better_is_missed(plan: Plan, beams: Beams, world: World, score: str) -> int:
    """For every answer of every sink the best chain, and so the best of all."""
    found = 0
    for sink in plan.sinks:
        every = everything(plan, sink.id, world, score)
        chains = beams.chains[sink.id]
        assert {chain.links[sink.id].answer: chain.score for chain in chains} == pytest.approx(best_by_answer(every), rel=1e-9, abs=1e-15)
        if every:
            best = max(every.values())
            assert every[assignment(chains[0])] == pytest.approx(best, rel=1e-9, abs=1e-15)
            assert chains[0].score == pytest.approx(best, rel=1e-9, abs=1e-15)
            found += 1
    return found


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", TREES)
def test_a_wide_beam_finds_what_a_search_of_everything_finds(name: str, score: str) -> None:
    found = 0
    for seed in SEEDS:
        world = World(seed)
        beams = ricr(TREES[name], ORIGINAL, world, beam=100, score=score)
        check_that_chains_are_true(TREES[name], beams, world, score, 100)
        found += check_that_nothing_better_is_missed(TREES[name], beams, world, score)
    assert found > 10  # not a comparison of nothing with nothing


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", DIAMONDS)
def test_a_wide_beam_finds_everything_in_diamonds_whose_answers_tell_how_they_were_reached(name: str, score: str) -> None:
    found = 0
    for seed in SEEDS:
        world = World(seed, telling=True)
        beams = ricr(DIAMONDS[name], ORIGINAL, world, beam=100, score=score)
        check_that_chains_are_true(DIAMONDS[name], beams, world, score, 100)
        found += check_that_nothing_better_is_missed(DIAMONDS[name], beams, world, score)
    assert found > 10


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("name", [*TREES, *DIAMONDS])
def test_chains_of_a_narrow_beam_are_true(name: str, beam: int, score: str) -> None:
    one = {**TREES, **DIAMONDS}[name]
    for seed in range(12):
        check_that_chains_are_true(one, ricr(one, ORIGINAL, World(seed), beam=beam, score=score), World(seed), score, beam)


def test_a_diamond_whose_parents_reach_one_answer_by_two_ways() -> None:
    """What a chain for each answer costs: never an untrue chain, never a score too high, but not always the best."""
    missed = 0
    for seed in range(60):
        world = World(seed)
        beams = ricr(DIAMONDS["diamond"], ORIGINAL, world, beam=100)
        best = max(everything(DIAMONDS["diamond"], 4, world, "panini_code").values(), default=0.0)
        check_that_chains_are_true(DIAMONDS["diamond"], beams, world, "panini_code", 100)
        found = max((chain.score for chain in beams.chains[4]), default=0.0)
        assert found <= best + 1e-12
        missed += found < best - 1e-12
    assert missed < 40
