"""A memory of question-answer pairs as a table: what tests of chains ask."""

from __future__ import annotations

from math import prod

import pytest

from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.chains.beam import grow_chains
from gsw_graph.ask.retrieve.chains.records import ScoredPair
from gsw_graph.ask.retrieve.recipes import CHAIN_SCORES, ChainRecipe
from gsw_graph.store.facts import Pair
from gsw_graph.text.names import normalise


def pair(id, *answers, question="", passage="", descriptions=(), title="", number=0):
    return Pair(
        id,
        question or f"question {id}",
        answers,
        tuple(descriptions),
        passage or f"passage of {id}",
        title,
        number,
    )


def scored(id, score, *answers):
    return ScoredPair(pair(id, *answers), ("vector",), score)


class Find:
    """Gives what a table says of each concrete question, and nothing for any other; keeps what it was asked, call by call."""

    def __init__(self, table):
        self._table = {normalise(text): list(found) for text, found in table.items()}
        self.calls: list[list[str]] = []

    def __call__(self, question, asked):
        self.calls.append([one.text for one in asked])
        return [list(self._table.get(normalise(one.text), [])) for one in asked]


def plan(*questions, compare=None):
    """A plan of questions, and one at the end for which nothing is retrieved."""
    return parse(
        [
            *({"question": question} for question in questions),
            *([{"question": compare, "retrieve": False}] if compare else []),
        ]
    )


ONE = plan("first")
TWO = plan("first", "second of #1")
DIAMOND = plan("first", "second of #1", "third of #1", "fourth of #2 and #3")


def grown(plan, question, find, *, planned=True, **constants):
    """Chains along a plan, by a recipe with these constants."""
    return grow_chains(plan, question, find, ChainRecipe(**constants), planned=planned)


def run(plan, table, **constants):
    return grown(plan, "the original", Find(table), **constants)


@pytest.fixture
def other_scores(monkeypatch):
    """A chain score that nobody needs, beside those that there are: what holds of chains holds by any."""
    monkeypatch.setitem(CHAIN_SCORES, "product", prod)


def calls(plan, table):
    """What was asked, level by level."""
    find = Find(table)
    grown(plan, "the original", find)
    return find.calls


def ways(chains):
    """Step, pair and answer of the hops of some chains."""
    return [[(hop.step, hop.pair.id, hop.answer) for hop in chain.hops] for chain in chains]


def answers(beams, step):
    """What the chains of a step end in, best first."""
    return [chain.links[step].answer for chain in beams.chains[step]]


def asked(beams, step):
    """The concrete questions of a step."""
    return [
        (expansion.fallback_question or expansion.concrete).text
        for expansion in beams.expansions
        if expansion.step.id == step
    ]


def fates(beams, step):
    """What became of the candidates of a step, by pair."""
    return {
        one.scored.pair.id: one.fate
        for expansion in beams.expansions
        if expansion.step.id == step
        for one in expansion.considered
    }
