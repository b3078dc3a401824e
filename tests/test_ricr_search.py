"""Beam search against a search of everything, on random graphs. It knows nothing of beams: it tries each pair and each answer at each step."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pytest
from chain_fakes import grown, other_scores, plan, scored  # noqa: F401 - a fixture

from gsw_graph.ask.retrieve.chains import beam as module

WIDE = 10_000
ORIGINAL = "original"  # nothing is found for it, so that falling back changes nothing

SCORES = {
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
# A step's answer goes into several that meet again: chains must agree on it, so that one answer by two ways is two chains.
DIAMONDS = {
    "diamond": plan("a", "b #1", "c #1", "d #2 #3"),
    "triangle": plan("a", "b #1", "c #1 #2"),
    "diamond with a tail": plan("a", "b #1", "c #1", "d #2 #3", "e #4"),
    "diamond and a sink": plan("a", "b #1", "c #1", "d #2 #3", "e #1"),
    "diamond after a hop": plan("a", "b #1", "c #2", "d #2", "e #3 #4"),
    "two ways round": plan("a", "b #1", "c #2", "d #1", "e #3 #4"),
    "two by one step, one around it": plan("a", "b #1", "c #2", "d #2", "e #1", "f #3 #4 #5"),
    "two joins": plan("a", "b #1", "c #1 #2", "d #1", "e #3 #4"),
}
PLANS = {**TREES, **DIAMONDS}


@dataclass
class World:
    """Random pairs for every question that can be asked."""

    seed: int
    most: int = 3  # pairs for one question

    def pairs(self, text):
        if text == ORIGINAL:
            return []
        rng = random.Random(f"{self.seed} {text}")
        found = []
        for n in range(min(rng.choice((0, 1, 2, 3, 3)), self.most)):
            names = rng.sample([f"{text[0]}{i}" for i in range(4)], rng.choice((1, 1, 2)))
            if rng.random() < 0.15:
                names = []
            elif rng.random() < 0.15:
                names = text.split()[-1:]  # an earlier answer, where there is one
            found.append(scored(f"{text}: {n}", 0.0 if rng.random() < 0.1 else rng.random(), *names))
        return sorted(found, key=lambda one: (-one.score, one.pair.id))

    def __call__(self, question, asked):
        return [self.pairs(one.text) for one in asked]


def everything(plan, step, world, score):
    """Every way to answer a step with all that it needs, and its score."""
    steps = sorted({*plan.ancestors(step), step})
    sinks = {sink.id for sink in plan.sinks}
    ways = [{}]
    for number in steps:  # no plan above refers forward
        longer = []
        for way in ways:
            text = plan.steps[number - 1].concrete({k: answer for k, (_, answer, _) in way.items()})
            for one in world.pairs(text):
                if one.pair.answers and not set(one.pair.answers) <= {
                    way[parent][1] for parent in plan.steps[number - 1].parents
                }:
                    said = [", ".join(one.pair.answers)] if number in sinks else one.pair.answers
                    longer += [{**way, number: (one.pair.id, answer, one.score)} for answer in said]
        ways = longer
    return {tuple((k, *way[k][:2]) for k in steps): SCORES[score]([way[k][2] for k in steps]) for way in ways}


def assignment(chain):
    return tuple(sorted((step, link.pair.id, link.answer) for step, link in chain.links.items()))


def best_by_answer(every):
    best = {}
    for way, score in every.items():
        best[way[-1][2]] = max(score, best.get(way[-1][2], 0.0))
    return best


def paths(plan, start, end):
    """Every way along which the answer of a step goes into another one that is asked."""
    if start == end:
        return [(end,)]
    after = [step.id for step in plan.steps if step.retrieve and start in step.parents]
    return [(start, *path) for step in after for path in paths(plan, step, end)]


def told_apart(plan, step):
    """The earlier steps on which the chains of a step must agree with others later: a later step is reached from them both by the step and around it."""
    return [
        earlier
        for earlier in sorted(plan.ancestors(step))
        if any(len({step in path for path in paths(plan, earlier, later.id)}) == 2 for later in plan.steps)
    ]


def check_that_chains_are_true(plan, beams, world, score, beam):
    """Each chain is a way that there is, with its score; best first, one for each answer and answers to agree on, no more than the beam."""
    for step in plan.steps:
        if step.retrieve:
            chains = beams.chains[step.id]
            every = everything(plan, step.id, world, score)
            for chain in chains:
                assert chain.score == pytest.approx(every[assignment(chain)], rel=1e-9, abs=1e-15)
            assert [chain.score for chain in chains] == sorted(
                (chain.score for chain in chains), reverse=True
            )
            apart = [step.id, *told_apart(plan, step.id)]
            assert (
                len({tuple(chain.links[one].answer for one in apart) for chain in chains})
                == len(chains)
                <= beam
            )


def check_that_nothing_better_is_missed(plan, beams, world, score):
    """For every answer of every sink the best chain, and so the best of all."""
    found = 0
    for sink in plan.sinks:
        every = everything(plan, sink.id, world, score)
        chains = beams.chains[sink.id]
        assert {chain.links[sink.id].answer: chain.score for chain in chains} == pytest.approx(
            best_by_answer(every), rel=1e-9, abs=1e-15
        )
        if every:
            best = max(every.values())
            assert every[assignment(chains[0])] == pytest.approx(best, rel=1e-9, abs=1e-15)
            assert chains[0].score == pytest.approx(best, rel=1e-9, abs=1e-15)
            found += 1
    return found


@pytest.fixture
def unlimited(monkeypatch):
    """A join goes on with all its combinations."""
    monkeypatch.setattr(module, "_JOINED", WIDE)


@pytest.mark.usefixtures("unlimited")
def test_a_wide_beam_finds_what_a_search_of_everything_finds_along_any_plan():
    found = 0
    for seed in range(300):
        rng = random.Random(seed)
        questions = ["a"]
        for letter in "bcdef"[: rng.randrange(2, 6)]:
            parents = rng.sample(
                range(1, len(questions) + 1), min(len(questions), rng.choice((1, 1, 2, 2, 3)))
            )
            questions.append(" ".join([letter, *(f"#{parent}" for parent in sorted(parents))]))
        one = plan(*questions, compare=rng.choice((None, "is #1 #2")))
        world = World(seed, most=2)
        beams = grown(one, ORIGINAL, world, beam=WIDE)
        check_that_chains_are_true(one, beams, world, "panini_code", WIDE)
        found += check_that_nothing_better_is_missed(one, beams, world, "panini_code")
    assert found > 50


@pytest.mark.usefixtures("other_scores")
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("name", PLANS)
def test_chains_of_a_narrow_beam_are_true(name, beam, score):
    one = PLANS[name]
    for seed in range(12):
        world = World(seed, most=3 if len(one.steps) < 6 else 2)
        check_that_chains_are_true(
            one, grown(one, ORIGINAL, world, beam=beam, score=score), world, score, beam
        )
