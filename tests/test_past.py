"""Whether two questions ask the same, which earlier question may be used, and what people see of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.past.recall import Recalled, _rejected
from gsw_graph.past.wording import likeness, read
from gsw_graph.results import RankedPassage
from gsw_graph.store.past import PastQuestion, Quoted

ASKED = "Where was the first director of the Tidewater Theatre born in 1902?"


@pytest.mark.parametrize(
    "other",
    [
        "What is the birthplace of the first director of the Tidewater Theatre, born in 1902?",
        "Tidewater Theatre: where was its 1st director born, in 1902?",
        "In 1902 the first director of the Tidewater Theatre was born. Where?",
    ],
)
def test_other_words_for_the_same(other: str) -> None:
    assert likeness(ASKED, other) == likeness(other, ASKED) == "same"


@pytest.mark.parametrize(
    "other",
    [
        ASKED.replace("first", "last"),
        ASKED.replace("first", "second"),
        ASKED.replace("born", "buried"),
        ASKED.replace("director", "architect"),
        ASKED.replace("Tidewater", "Vellmouth"),
        ASKED.replace("1902", "1903"),
        ASKED.replace(" in 1902", ""),
        ASKED.replace("was", "was not"),
        "Besides the first, where was the director of the Tidewater Theatre born in 1902?",
    ],
)
def test_what_stands_against_it(other: str) -> None:
    assert likeness(ASKED, other) is likeness(other, ASKED) is None


@pytest.mark.parametrize("other", [ASKED.replace("first ", ""), ASKED.replace("first director", "first director's sister"), f"{ASKED[:-1]} to rich parents?"])
def test_what_is_left_over_only_the_evidence_can_tell(other: str) -> None:
    assert likeness(ASKED, other) == likeness(other, ASKED) == "near"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who won the gold medal in the 1996 marathon?", "Who won the silver medal in the 1996 marathon?"),
        ("What does Norway import?", "What does Norway export?"),
        ("Who was the first woman in space?", "Who was the first person in space?"),
        ("Who taught Plato?", "Who did Plato teach?"),
        ("Which team beat Spain?", "Which team did Spain beat?"),
        ("When did France invade Spain?", "When did Spain invade France?"),
        ("Who is the employer of Ann Lee?", "Who is the employee of Ann Lee?"),
    ],
)
def test_what_parts_two_questions_is_never_taken_for_other_words(one: str, other: str) -> None:
    assert likeness(one, other) in ("near", None)
    assert likeness(other, one) in ("near", None)


def test_a_man_is_no_woman() -> None:
    assert likeness("Who was the first man in space?", "Who was the first woman in space?") is None


def test_initials_stand_for_a_name() -> None:
    assert likeness("Which US senator sang?", "Which senator of the United States sang?") == "same"
    assert likeness("Which US senator sang?", "Which senator of the United Kingdom sang?") is None


@given(st.text(max_size=200))
def test_any_text_is_read_and_is_itself(text: str) -> None:
    read(text)
    assert likeness(text, text) == "same"


def past(id_: str, answer: str, verdict: str | None = None, *, cosine: float = 0.9, cites: str = "p", of: str | None = None) -> PastQuestion:
    quoted = Quoted(RankedPassage(cites, "", "text", "source", "document", 0.0), "text")
    source = (id_ + "0", "before", of, "2026-01-01T00:00:00+00:00") if of else None
    given = {"confidence": 0.9, "inferred": False, "model": None, "plan": None, "strategy": "fusion", "answer_source": "chain"}
    return PastQuestion(id=id_, question="q", answer=answer, verdict=verdict, asked_at="2026-01-01", cosine=cosine, stands=True, quotes=[quoted], pairs=[], source=source, **given)  # type: ignore[arg-type]


def recalled(one: PastQuestion) -> Recalled:
    return Recalled(one, "same", one.verdict == "confirmed")


def test_a_rejected_answer_takes_what_stands_on_it_with_it() -> None:
    wrong = recalled(past("a", "Oslo", "rejected"))
    for other in (past("b", "oslo", cites="x"), past("c", "Bergen"), past("d", "Rome", cites="x", of="rejected")):
        assert _rejected(recalled(other), [wrong, recalled(other)]), other
    assert not _rejected(recalled(past("e", "Bergen", cites="x")), [wrong])
    right = past("f", "Oslo", "confirmed", cosine=0.95)
    assert not _rejected(recalled(right), [wrong]), "it is nearer, and people said that it is right"
    assert _rejected(recalled(replace(right, cosine=0.8)), [wrong])
