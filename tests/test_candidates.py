"""Candidates: what was asked before is not asked again, one batch for all questions of a level, and the reranker's score is the hop's."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import fakes
import numpy as np
import pytest
from chain_fakes import grown, pair, plan

from gsw_graph.ask.retrieve.chains import candidates
from gsw_graph.ask.retrieve.chains.candidates import CandidateSearch, document
from gsw_graph.ask.retrieve.context import RetrievalContext
from gsw_graph.ask.retrieve.pair_score import fill_references
from gsw_graph.ask.retrieve.recipes import ChainRecipe
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store.facts import HopQuestion, HopResult

ASKED = fill_references("Where was #1 born?", {1: "Ana Ruiz"})


class Database:
    """In the place of `hop`: every question has the same candidates. Keeps what it was asked, round trip by round trip."""

    def __init__(self, *pairs):
        self.pairs = pairs
        self.trips: list[list[HopQuestion]] = []
        self.limits: dict[str, int] = {}

    def __call__(self, reader, questions, **limits):
        self.trips.append(list(questions))
        self.limits = limits
        encoder = fakes.BagOfWords()
        vectors = encoder.encode(
            [one.question for one in sorted(self.pairs, key=lambda one: one.number)], query=False
        )
        return HopResult(
            [[(one, ("vector",)) for one in self.pairs] for _ in questions], vectors, vectors, vectors
        )


@dataclass
class Numbered:
    """A reranker: documents score by a table, queries by their length beside. Keeps its calls."""

    scores: dict[str, float]
    name: str = "numbered"
    calls: list[list[tuple[str, str]]] = field(default_factory=list)

    def score(self, pairs):
        self.calls.append(list(pairs))
        return np.array([self.scores.get(text, 0.0) + len(query) / 1000 for query, text in pairs], np.float32)


@pytest.fixture
def database(monkeypatch):
    def use(*pairs):
        found = Database(*pairs)
        monkeypatch.setattr(candidates, "hop", found)
        return found

    return use


def search(reranker=None, encoder=None, **constants):
    """Of a memory without a database, by a recipe with these constants."""
    models = SimpleNamespace(embedder=Embedder("fake", encoder or fakes.BagOfWords()), reranker=reranker)
    context = RetrievalContext(None, models, lambda: None)  # type: ignore[arg-type]
    return CandidateSearch(context, ChainRecipe(**constants))  # type: ignore[arg-type]


BORN = pair("b", "Rome", question="Where was Ana Ruiz born?", number=0)
DIED = pair("a", "Oslo", question="Where did Ana Ruiz die?", number=1)
OTHER = pair("c", "Salt", question="What is mined here?", number=2)


def test_a_level_is_one_call_of_the_reranker_and_its_score_is_the_hops(database):
    database(BORN, DIED, OTHER)
    reranker = Numbered({document(BORN): 0.1, document(DIED): 0.2, document(OTHER): 0.6})
    other = fill_references("Where was Bo born?", {})
    beams = grown(plan("Where was Ana Ruiz born?", "Where was Bo born?"), "?", search(reranker))
    (call,) = reranker.calls
    expected = sorted((one.text, document(two)) for one in (ASKED, other) for two in (BORN, DIED, OTHER))
    assert sorted(call) == expected
    for expansion in beams.expansions:
        beside = len(expansion.concrete.text) / 1000
        found = [(one.scored.pair.id, one.scored.score) for one in expansion.considered]
        expected = [
            ("c", pytest.approx(0.6 + beside)),
            ("a", pytest.approx(0.2 + beside)),
            ("b", pytest.approx(0.1 + beside)),
        ]
        assert found == expected
    best = beams.chains[1][0]
    assert best.links[1].score == pytest.approx(0.6 + len(ASKED.text) / 1000)
    assert best.score == pytest.approx((1 + best.links[1].score) / 2)
