"""The comparative and temporal example questions: each is answered by its documents, step by step."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gsw_graph.evaluate.data import read_record as record
from gsw_graph.loaders import read
from gsw_graph.model import Document

EXAMPLES = Path(__file__).parents[1] / "examples"
SETS = {kind: [json.loads(line) for line in (EXAMPLES / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()] for kind in ("comparative", "temporal")}
QUESTIONS = [question for questions in SETS.values() for question in questions]


@pytest.fixture(scope="module")
def texts():
    """The text of every document, by the last part of its source."""
    found = {}
    for item in read([str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl")]):
        document = item if isinstance(item, Document) else item.document
        found[Path(document.source).name] = " ".join(" ".join(passage.full_text for passage in document.passages).split())
    return found


@pytest.mark.parametrize("kind", SETS)
def test_there_are_twenty_of_which_five_take_two_hops(kind):
    assert [question["id"] for question in SETS[kind]] == [f"{kind}_{n}" for n in range(1, 21)]
    assert sorted(question["hops"] for question in SETS[kind]) == [1] * 15 + [2] * 5


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_a_question_is_answered_step_by_step(texts, question):
    steps = question["question_decomposition"]
    for n, step in enumerate(steps):
        assert any(step["answer"] in texts[name] for name in question["supporting"])
        assert all(1 <= int(k) <= n for k in re.findall(r"#(\d+)", step["question"]))
    sides = [texts[name] for name in question["supporting"]]
    bare = question["answer"].removeprefix("the ")
    spoken = [text for text in (bare, *question["answer_aliases"]) if any(text in side for side in sides)]
    # "yes" and "no", and how many years, are concluded; all else stands in a text
    assert spoken or bare in ("yes", "no") or bare.isdigit()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_eval_reads_a_question(question):
    read_as = record(question, "1")
    assert read_as.answers[0] == question["answer"]
    assert [gold.source for gold in read_as.gold] == question["supporting"]
    assert read_as.hops == question["hops"]


def test_no_question_stands_twice():
    """No question stands twice, also not in the other sets."""
    others = [json.loads(line)["question"] for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [question["question"] for question in QUESTIONS]
    assert len({*asked, *others}) == len(asked) + len(others) == 52
