"""The example corpus loads, and each example question is answered by its documents, hop by hop."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gsw_graph.ask.plan import load
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Workspace

EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTIONS = [
    json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def documents():
    found = {Path(item.source).name: item for item in read([str(EXAMPLES / "corpus")])}
    assert all(isinstance(item, Document) for item in found.values())
    return found


def text(document):
    joined = "\n".join(passage.full_text for passage in document.passages)
    return " ".join(joined.split())


def test_the_corpus_is_thirty_short_documents(documents):
    assert len(documents) == 30
    assert all(80 <= len(text(document).split()) <= 400 for document in documents.values())
    assert sum(len(document.passages) > 1 for document in documents.values()) >= 3


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_a_question_is_answered_hop_by_hop(documents, question):
    hops = question["question_decomposition"]
    assert (
        len(hops) == len(question["supporting"]) == len(set(question["supporting"])) == int(question["id"][0])
    )
    for n, (hop, name) in enumerate(zip(hops, question["supporting"], strict=True)):
        assert hop["answer"] in text(documents[name])
        assert all(1 <= int(k) <= n for k in re.findall(r"#(\d+)", hop["question"]))
    assert hops[-1]["answer"] == question["answer"]
    last = text(documents[question["supporting"][-1]])
    names = re.findall(r"(?<!^)\b[A-ZÀ-Þ]\w+", question["question"])
    assert names
    assert not [name for name in names if re.search(rf"\b{name}\b", last)]


WORKSPACES = [
    json.loads(line) for line in (EXAMPLES / "workspaces.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_the_workspaces_load_whole_and_the_plan_can_be_followed():
    found = list(read([str(EXAMPLES / "workspaces.jsonl")]))
    assert len(found) == len(WORKSPACES) == 7
    for item in found:
        assert isinstance(item, Workspace)
    assert [len(level) for level in load(str(EXAMPLES / "plan.json")).levels()] == [1, 1, 1]
