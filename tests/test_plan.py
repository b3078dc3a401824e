"""Plans: every form they come in, the order of their steps, and a clear sentence for every fault."""

from __future__ import annotations

import json
import random

import pytest
from samples import cases

from gsw_graph.ask.plan import MAX_QUESTION, MOST_STEPS, Plan, SubQuestion, load, parse
from gsw_graph.errors import InputError

BRIDGE = [
    {"id": 1, "question": "Who designed the Lumen Bridge?"},
    {"id": 2, "question": "Where was #1 born?"},
]
PARSED = Plan((SubQuestion(1, "Who designed the Lumen Bridge?"), SubQuestion(2, "Where was #1 born?")))


def ids(steps):
    return [step.id for step in steps]


def levels(plan):
    return [ids(level) for level in plan.levels()]


def questions(plan):
    return [step.question for step in plan.steps]


def faulty(plan):
    with pytest.raises(InputError) as caught:
        parse(plan)
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.hint  # what to do
    return text


# A step


@pytest.mark.parametrize(
    ("question", "parents"),
    cases(__file__, "references", tuples=True),
)
def test_references(question, parents):
    step = SubQuestion(50, question)
    assert step.parents == parents
    if not parents:
        assert step.concrete({}) == question


def test_concrete():
    step = SubQuestion(13, "Did #1, #12 or #1 learn C#1 from #12's #2?")
    assert step.concrete({1: "Ada", 12: "Bo", 2: "cat"}) == "Did Ada, Bo or Ada learn C#1 from Bo's cat?"


def test_answers_are_put_in_as_they_are():
    step = SubQuestion(3, "#1 and #2")
    assert step.concrete({1: "#2", 2: r"\1 \g<0> #1"}) == r"#2 and \1 \g<0> #1"


# A plan


def test_a_chain():
    plan = parse(["a", "b #1", "c #2"])
    assert levels(plan) == [[1], [2], [3]]
    assert ids(plan.sinks) == [3]
    found = [plan.ancestors(id) for id in (1, 2, 3)]
    assert found == [set(), {1}, {1, 2}]


def test_a_comparison_is_in_no_level_and_hides_no_sink():
    plan = parse(
        [
            *BRIDGE,
            {"id": 3, "question": "When did Emil Vance die?"},
            {"id": 4, "question": "Is #2 before #3?", "retrieve": False},
        ]
    )
    assert levels(plan) == [[1, 3], [2]]
    assert ids(plan.sinks) == [2, 3]
    assert plan.ancestors(4) == {1, 2, 3}


def test_to_list():
    plan = Plan((*PARSED.steps, SubQuestion(3, "Is #2 large?", retrieve=False)))
    assert plan.to_list() == [*BRIDGE, {"id": 3, "question": "Is #2 large?", "retrieve": False}]
    assert parse(json.dumps(plan.to_list())) == plan


def test_a_plan_made_by_hand_is_checked():
    with pytest.raises(InputError, match="circle"):
        Plan((SubQuestion(1, "#2"), SubQuestion(2, "#1")))
    with pytest.raises(InputError, match="1 to n"):
        Plan((SubQuestion(2, "a"), SubQuestion(1, "b")))
    with pytest.raises(InputError, match="empty"):
        Plan(())


# The forms


@pytest.mark.parametrize(
    "form",
    cases(__file__, "forms"),
)
def test_forms(form):
    assert parse(form) == PARSED
    assert parse(json.dumps(form)) == PARSED
    assert parse(f"\ufeff\n {json.dumps(form)} \n") == PARSED


@pytest.mark.parametrize("flag", [False, "false", "False", " FALSE "])
@pytest.mark.parametrize("key", ["retrieve", "requires_retrieval"])
def test_flags(flag, key):
    plan = parse([{"question": "How old is A?"}, {"question": "Is #1 old?", key: flag}])
    assert [step.retrieve for step in plan.steps] == [True, False]


# The faults


@pytest.mark.parametrize(
    ("plan", "words"),
    cases(__file__, "faults"),
)
def test_faults(plan, words):
    assert words in faulty(plan)


def test_faults_of_size():
    assert "the plan is not JSON" in faulty("[" * 100_000)
    number = "9" * 5000
    assert "the plan is not JSON" in faulty('[{"id": ' + number + ', "question": "a"}]')
    many = [f"question {n}" for n in range(30)]
    assert "the plan has 30 steps, more than the 20 that are allowed" in faulty(many)
    long = "b" * (MAX_QUESTION + 1)
    said = "step 2 has no question that can be asked. Write text of at most 2,000 characters"
    assert said in faulty(["a", long])


def test_many_references_take_no_time():
    """Each step refers to all before it, so that there are half a million ways through the plan."""
    plan = parse(["a", *("q " + " ".join(f"#{k}" for k in range(1, n)) for n in range(2, MOST_STEPS + 1))])
    assert len(plan.levels()) == MOST_STEPS
    assert len(plan.ancestors(MOST_STEPS)) == MOST_STEPS - 1


def test_noise_is_a_plan_or_an_input_error():
    rng = random.Random(7)
    pieces = [
        "a",
        "#1",
        "b #2 #1",
        "#1",
        "#1",
        "",
        None,
        True,
        1,
        -1,
        2.5,
        [],
        {},
        "false",
        "id",
        "question",
        "retrieve",
    ]
    keys = [
        "id",
        "question",
        "retrieve",
        "requires_retrieval",
        "answer",
        "plan",
        "questions",
        "question_decomposition",
    ]

    def noise(depth):
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            return rng.choice(pieces)
        if kind < 0.6:
            return [noise(depth - 1) for _ in range(rng.randint(0, 3))]
        return {rng.choice(keys): noise(depth - 1) for _ in range(rng.randint(0, 3))}

    plans = 0
    for _ in range(5000):
        made = noise(3)
        try:
            plan = parse(made)
        except InputError:
            continue
        plans += 1
        assert parse(plan.to_list()) == plan
    assert plans > 20


# The argument of a command line


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_load_file(tmp_path, encoding):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(["Who wrote “Säl”?"], ensure_ascii=False), encoding=encoding)
    assert questions(load(str(path))) == ["Who wrote “Säl”?"]


def test_load_faults(tmp_path):
    contents = {
        "latin.json": '["Où?"]'.encode("latin-1"),
        "utf16.json": '["a"]'.encode("utf-16"),
        "faulty.json": b'["a #2"]',
        "empty.json": b"",
        "text.json": b"Who?",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    expected = {
        "latin.json": "the plan cannot be read ('utf-8' codec",
        "utf16.json": "the plan cannot be read ('utf-8' codec",
        "faulty.json": "step 1 refers to #2, and there is no step 2",
        "empty.json": "the plan is empty",
        "text.json": "the plan is not JSON",
        "missing.json": "the plan cannot be read (No such file or directory)",
        ".": "the plan cannot be read (Is a directory)",
        "nul\0.json": "the plan cannot be read (",
        "long" * 1000: "the plan cannot be read (File name too long)",
    }
    for name, words in expected.items():
        with pytest.raises(InputError) as caught:
            load(str(tmp_path / name))
        assert words in str(caught.value)
        assert str(caught.value).startswith(str(tmp_path)[:50])
        assert caught.value.hint
        assert len(str(caught.value)) < 500


# Plans as others wrote them
