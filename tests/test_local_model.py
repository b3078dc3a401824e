"""A passage and a question through a real model of 135 million parameters: not what it says is tested, but what becomes of it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import replace

import engines
import local_model
import pytest

from gsw_graph.ask.retrieve.strategies import STRATEGIES
from gsw_graph.config import Settings
from gsw_graph.extract.llm import SHARE, folded, stands_in
from gsw_graph.memory import Memory

TEXT = "The Marrow Bridge was built by Ilse Tarn in 1874. It crosses the river Osk at Fennwick."


@pytest.fixture
def settings(fake_embedder, tmp_path):
    model = local_model.weights()
    if model is None or importlib.util.find_spec("xllamacpp") is None:
        missing = "the extra `local` and its weights are not installed: see the Makefile"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    given = Settings(
        memory=str(tmp_path / "memory"),
        cache_dir=engines.quick_cache(tmp_path / "cache"),
        llm="SmolLM2",
        llm_timeout=20,
        llm_prompt="short",
        concurrency=1,
    )
    with local_model.running(model) as url:
        yield replace(given, llm_url=url)


@pytest.mark.slow
def test_a_model_of_135_million_parameters(settings, tmp_path):
    (tmp_path / "bridge.txt").write_text(TEXT)
    with Memory.open(settings=settings) as memory:
        report = memory.load(str(tmp_path / "bridge.txt"))
        found = report.documents
        assert found.new + found.failed == 1  # it is read, or listed with its reason
        assert (
            len([failure for failure in report.failures if failure.reason and not failure.part])
            == found.failed
        )
        assert report.calls >= 1
        assert report.tokens["in"] > 0
        for row in memory.cypher(
            "MATCH (p:Passage) RETURN p.title + ' ' + p.text AS text, [(e:Entity)-[:IN]->(p) | e.name] AS names"
        ).rows:
            text = row["text"]
            names = row["names"]
            assert not [name for name in names if not any(map(str.isalnum, name))]
            assert sum(stands_in(name, folded(text)) for name in names) >= SHARE * len(names), (text, names)
        answer = memory.ask("Who built the Marrow Bridge?")
        assert answer.answer is None or answer.citations  # an answer stands on something
        assert answer.answer or answer.abstained or answer.note  # none is said, or why the model gave none
        assert found.failed or answer.passages
        assert {one.check: one.ok for one in memory.doctor()}["language model"]


AGENTS = [name for name, one in STRATEGIES.items() if one.makes_plan]
BUDGET = 2500  # tokens; what a prompt is estimated to take may be a tenth too little


@pytest.mark.slow
@pytest.mark.parametrize("strategy", AGENTS)
def test_agents_end_whatever_it_writes(settings, sample_folder, strategy):
    shutil.copytree(sample_folder, settings.memory)
    with Memory.open(settings=settings) as memory:
        answer = memory.ask(
            "On which river lies the town where the builder of the Stone Pier was born?",
            strategy=strategy,
            budget=f"{BUDGET}tok",
            trace=True,
        )
        assert answer.strategy == strategy
        assert answer.tokens["in"] + answer.tokens["out"] <= 1.1 * BUDGET
        assert answer.calls > 0
        assert answer.passages
        assert answer.answer is None or answer.citations
        assert answer.answer or answer.abstained or answer.note
        assert answer.trace is not None
        assert answer.trace.steps
        held = {row["id"] for row in memory.cypher("MATCH (p:Passage) RETURN p.id AS id").rows}
        assert {citation.passage for citation in answer.citations} | {
            passage.id for passage in answer.passages
        } <= held
