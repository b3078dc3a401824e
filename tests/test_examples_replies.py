"""The recorded replies of the example corpus: each answers one request that gswgraph sends, and is read without a repair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_chat import ScriptedChat

from gsw_graph.ask.answer.invention import Known
from gsw_graph.ask.answer.statements import parse_full
from gsw_graph.ask.plan import decompose
from gsw_graph.extract.llm import check, request
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document

EXAMPLES = Path(__file__).parents[1] / "examples"
LINES = [json.loads(line) for line in (EXAMPLES / "replies.jsonl").read_text(encoding="utf-8").splitlines()]


PLANNED = [
    line["when"]["contains"][0].removeprefix("Question: ")
    for line in LINES
    if line["when"]["stage"] == "plan"
]


def even(text):
    return " ".join(text.split())


def replies(stage, message):
    """The lines that answer a request of this stage, as the model server looks for them."""
    said = even(message)
    return [
        line
        for line in LINES
        if line["when"]["stage"] == stage and all(even(part) in said for part in line["when"]["contains"])
    ]


@pytest.fixture(scope="module")
def passages():
    documents = [item for item in read([str(EXAMPLES / "corpus")]) if isinstance(item, Document)]
    return [(document, passage.position) for document in documents for passage in document.passages]


def test_stages_of_the_recorded_replies():
    stages = {line["when"]["stage"] for line in LINES}
    assert stages == {"extract", "plan", "answer", "answer_full", "cypher"}


def test_every_passage_has_one_reply_and_every_reply_its_passage(passages):
    found = [
        replies("extract", request(document, position).messages[-1]["content"])
        for document, position in passages
    ]
    assert [len(lines) for lines in found] == [1] * len(passages)
    assert (
        sum(line["when"]["stage"] == "extract" for line in LINES)
        == len(passages)
        == len({id(lines[0]) for lines in found})
    )


def test_an_extraction_is_read_and_its_questions_can_be_followed(passages):
    for document, position in passages:
        [line] = replies("extract", request(document, position).messages[-1]["content"])
        found = check(document, position)(line["reply"])
        assert found.entities
        assert found.phrases
        assert found.facts
        names = {name for name, _ in found.entities}
        answers = [answers for _, pairs in found.phrases for _, answers in pairs]
        assert all(answers)
        assert {name for some in answers for name in some} <= names, "a chain goes on from every answer"


def test_every_short_answer_is_recorded_in_full_too_and_invents_nothing():
    texts = [(EXAMPLES / "corpus" / path.name).read_text("utf-8") for path in (EXAMPLES / "corpus").iterdir()]
    corpus = Known.of(" ".join(texts), [])
    by_stage = {
        stage: [line for line in LINES if line["when"]["stage"] == stage]
        for stage in ("answer", "answer_full")
    }
    short, full = by_stage.values()
    assert {line["when"]["contains"][0] for line in short} == {line["when"]["contains"][0] for line in full}
    for line in full:
        reply = parse_full(line["reply"])
        assert reply.parts or reply.missing
        assert all(part.lines and not corpus.invented(part.text) for part in reply.parts)


@pytest.mark.parametrize("question", PLANNED)
def test_a_plan_is_taken_as_it_is(question):
    [line] = replies("plan", f"Question: {question}")
    chat = ScriptedChat(line["reply"])
    plan = decompose(question, chat)
    assert not chat.told
    assert replies("plan", chat.requests[0].messages[-1]["content"]) == [line]
    assert [step.question for step in plan.steps] == [step["question"] for step in line["reply"]["plan"]]
