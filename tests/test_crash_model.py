"""A load by a language model that is killed anywhere: the graph is that of an undisturbed load, and nothing is paid for twice."""

from __future__ import annotations

import os
import random
import time
from dataclasses import replace

import engines
import model_corpus
import pytest
from crash_place import CRASHES, load_at_once
from dump import dump
from model_server import ModelServer
from waiting import until

from gsw_graph.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

DOCUMENTS = 212  # with 300 passages
CONCURRENCY = 8


@pytest.fixture
def server():
    with ModelServer(model_corpus.reply, delay=0.05, limit=CONCURRENCY) as running:
        yield running


def asking(here, server, cache):
    """The same place with a language model, and a cache of its own."""
    settings = replace(
        engines.own_replies(here.settings, cache),
        llm="test-model",
        llm_url=server.url,
        concurrency=CONCURRENCY,
    )
    variables = {
        "GSWGRAPH_LLM": "test-model",
        "GSWGRAPH_LLM_URL": server.url,
        "GSWGRAPH_CONCURRENCY": str(CONCURRENCY),
    }
    return replace(here, settings=settings, variables=variables)


def in_the_air(server, since):
    """Calls that were not answered by this moment, or answered so shortly before that the reply may not have been kept."""
    return sum(
        call.arrived > 0 and (call.answered is None or call.answered > since - 0.1) for call in server.calls
    )


def test_killed_anywhere_it_ends_as_an_undisturbed_load_and_pays_nothing_twice(place, tmp_path, server):
    passages = model_corpus.write(tmp_path / "corpus", DOCUMENTS)
    assert passages == 300
    undisturbed = asking(place(), server, tmp_path / "cache")
    begin = time.monotonic()
    load_at_once(undisturbed)
    seconds = time.monotonic() - begin
    assert server.count() == passages
    with Memory.open(settings=undisturbed.settings) as memory:
        expected = dump(memory)
        status = memory.status().nodes
        assert status["Passage"] == passages
        assert status["QAPair"] == 3 * passages
        assert status["Proposition"] == passages
        assert memory.load(str(undisturbed.folder)).calls == 0

    killed = asking(place(), server, tmp_path / "other cache")
    rng = random.Random(1871)
    kills = 0
    flying = 0
    for number in range(CRASHES):
        early = number % 5 == 4
        # Most of a run is its start, so few calls are made in each: kills fall on every stage.
        wait = rng.uniform(0, 2.0) if early else rng.uniform(0.1, max(min(2 / CRASHES, 0.7) * seconds, 0.6))
        kills += killed.kill(wait, engine=rng.random() < 0.5, early=early)
        until(lambda: not server.in_flight)  # answered to nobody
        flying += in_the_air(server, killed.killed_at)
    killed.finish()
    assert kills >= CRASHES * 0.6
    assert server.count() - passages <= passages + flying
    replace(killed, settings=replace(killed.settings, llm=None)).check(
        expected, ("linked", "ricr", "dense", "bm25")
    )
