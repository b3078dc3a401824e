"""The recorded replies of agents: the twelve questions are answered by them, and what is cited is in the memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from model_server import ModelServer

from gsw_graph.config import Settings
from gsw_graph.evaluate.metrics import exact_match
from gsw_graph.memory import Memory

EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTIONS = [
    json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
LINES = [
    json.loads(line)
    for name in ("replies.jsonl", "agents.jsonl")
    for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
]

# Of twelve. All were right when the replies were written; where vectors differ in the last digits lines stand otherwise, and a step may have no reply.
LEAST = {"grasp": 9, "pathwise": 9}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    with ModelServer(LINES) as server:
        settings = Settings(
            memory=str(folder / "memory"), llm="recorded", llm_url=server.url, llm_prompt="long"
        )
        with Memory.open(settings=settings) as memory:
            # Settings of this test alone: no reply that another run kept.
            memory._settings = replace(memory._settings, llm=f"recorded-{folder.name}")
            memory.load(str(EXAMPLES / "corpus"))
            yield memory


def test_the_file_says_who_wrote_it():
    first = json.loads((EXAMPLES / "agents.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["written by"]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["grasp", "pathwise"])
def test_the_questions_are_answered_by_recorded_replies(memory, strategy):
    right = 0
    for one in QUESTIONS:
        answer = memory.ask(one["question"], strategy=strategy, trace=True, keep=False, short=True)
        assert answer.trace is not None
        assert answer.trace.steps
        if answer.answer is None:
            assert answer.abstained
            continue
        assert answer.citations
        assert {citation.passage for citation in answer.citations} <= {
            row["id"] for row in memory.cypher("MATCH (p:Passage) RETURN p.id AS id").rows
        }
        right += bool(exact_match(answer.answer, [one["answer"], *one.get("answer_aliases", [])]))
    assert right >= LEAST[strategy]
