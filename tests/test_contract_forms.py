"""Questions as people put them, over small documents: numbers written otherwise, all of something, and texts without names."""

from __future__ import annotations

from dataclasses import replace

import engines
import fakes
import pytest
from contract import records, sources
from model_server import ModelServer
from samples import cases

from gsw_graph.ask.answer.counting import asks_for_all
from gsw_graph.memory import Memory

DOCKS = (
    "34,700 people in 1911. It opened on 9 May 1887",
    "34,070 people in 1911. It opened on 5 September 1887",
    "347,000 people in 1911. It opened on 9 May 1878",
    "3,470 people in 1911. It opened on 19 May 1887",
    "700 people in 1911. It opened on 9 June 1887",
)
FERRIES = "Auk Brent Coot Diver Eider Finch Goose Hobby Ibis Jay Knot Linnet Merlin Nightjar".split()


@pytest.mark.parametrize("strategy", ["bm25", "linked"])
def test_case_44_a_number_is_found_in_another_form(memory, tmp_path, strategy):
    memory.load(
        records(
            tmp_path,
            *(
                f"The dock of {place} employed {text}."
                for place, text in zip(("Orm", "Pell", "Quay", "Rill", "Sund"), DOCKS, strict=True)
            ),
        )
    )
    for question in (
        "Which dock employed 34700 people?",
        "Which dock employed 34 700 people?",
        "Which dock employed 34.700 people?",
        "Which dock opened on 1887-05-09?",
        "Which dock opened on May 9th, 1887?",
    ):
        assert sources(memory.ask(question, strategy=strategy, k=1, keep=False)) == ["d0"], question


@pytest.fixture
def ferries(memory, tmp_path):
    """Fourteen ferries of one line, and as many tugs of another."""
    texts = [
        f"The ferry {name} sails for the Harrow Line since {1881 + n}." for n, name in enumerate(FERRIES)
    ]
    memory.load(
        records(
            tmp_path,
            *texts,
            *(
                f"The tug {name}shaw sails for the Orwin Line since {1881 + n}."
                for n, name in enumerate(FERRIES)
            ),
        )
    )
    return memory


@pytest.mark.parametrize(
    "question", ["How many ferries sail for the Harrow Line?", "List all ferries of the Harrow Line."]
)
def test_case_45_what_is_left_out_is_said(ferries, question):
    answer = ferries.ask(question, keep=False)
    assert len(answer.passages) == 5
    assert answer.note is not None
    assert "5 of 14 passages that fit the question were shown" in answer.note
    every = ferries.ask(question, k=14, keep=False)
    assert {passage.title or passage.text.split()[2] for passage in every.passages} == set(FERRIES)
    assert every.note is None
    later = ferries.ask(question, k=9, shown=[passage.id for passage in answer.passages], keep=False)
    assert len(later.passages) == 9, "all were shown"
    assert later.note is None, "all were shown"
    assert ferries.ask("Since when does the ferry Auk sail?", keep=False).note is None


class Counter:
    """A model that counts the lines with some words."""

    def __init__(self):
        self.lines: list[str] = []
        self.words = "The ferry"
        self.wrong = 0
        self.at_most = 100

    def __call__(self, body):
        if body.get("response_format", {}).get("json_schema"):
            return {"needed": [1], "missing": ""}
        self.lines = [
            line
            for line in body["messages"][1]["content"].splitlines()
            if line.startswith("[") and self.words in line
        ]
        cited = [line[1 : line.index("]")] for line in self.lines][: self.at_most]
        return f"Answer: {len(cited) + self.wrong}\nSources: {', '.join(cited)}"


@pytest.fixture
def counter():
    return Counter()


@pytest.fixture
def counted(ferries, counter, tmp_path):
    with ModelServer(counter) as server:
        settings = replace(
            engines.own_replies(ferries.settings, tmp_path / "cache"), llm="m", llm_url=server.url
        )
        memory = Memory(ferries._connection, settings, fakes.embedder(settings))
        yield memory
        memory._close_chat()


def test_case_45_a_model_sees_all_and_its_count_is_an_answer(counted, counter):
    answer = counted.ask("How many ferries sail for the Harrow Line?", keep=False, short=True)
    assert len(counter.lines) == len(FERRIES)
    assert answer.answer == "14"
    assert answer.abstained is False
    assert answer.note is None
    assert len({citation.passage for citation in answer.citations}) == len(FERRIES)
    counter.wrong = 3
    refused = counted.ask("How many ferries does the Harrow Line have?", keep=False)
    assert refused.answer is None, "it is not the number of its lines"
    assert refused.abstained is True, "it is not the number of its lines"


def test_case_45_a_model_is_not_shown_all_and_the_answer_says_so(ferries, counted, tmp_path):
    texts = [
        f"The ferry {name} {part} sails for the Harrow Line, whose boats are painted green and white and have two funnels each."
        for name in FERRIES
        for part in ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")
    ]
    ferries.load(records(tmp_path, *texts, name="more"))
    answer = counted.ask("How many ferries sail for the Harrow Line?", keep=False)
    assert answer.note is not None
    assert "passages that fit the question were read" in answer.note


@pytest.mark.parametrize(
    ("question", "wants"),
    cases(__file__, "case_45_which_questions_ask_for_all"),
)
def test_case_45_which_questions_ask_for_all(question, wants):
    assert asks_for_all(question) is wants


def test_case_17_texts_without_names_have_their_place(memory, tmp_path):
    texts = (
        "Ada Berg swept the engine shed on Monday.",
        "Bo Dahl oiled the gate for Ada Berg.",
        "Cy Lund sold the clock in Orsk.",
        "the second lamp of the engine shed stands under the bench by the gate.",
        "Di Holm mended the boat.",
    )
    memory.load(records(tmp_path, *texts))
    question = "Where is the lamp of the engine shed?"
    for strategy in ("bm25", "linked", "auto"):
        assert sources(memory.ask(question, strategy=strategy, k=1, keep=False)) == ["d3"], strategy
    memory.forget(everything=True)
    memory.load(
        records(
            tmp_path,
            "绿湾的水车由赵小月看守。水车建于一九二〇年。",
            "赵小月写了一本关于鲸鱼的书。",
            "王大山在绿湾边开了一家茶馆。",
            "石门镇以陶器闻名。",
        )
    )
    for question, source in (("谁看守绿湾的水车？", "d0"), ("鲸鱼的书写了什么？", "d1")):
        assert sources(memory.ask(question, k=1, keep=False)) == [source], question
