"""Plans: every form they come in, the order of their steps, and a clear sentence for every fault."""

from __future__ import annotations

import json
import random

import pytest

from gsw_graph.ask.plan import MAX_QUESTION, MOST_STEPS, Plan, SubQuestion, load, parse
from gsw_graph.errors import InputError

BRIDGE = [
    {"id": 1, "question": "Who designed the Lumen Bridge?"},
    {"id": 2, "question": "Where was #1 born?"},
]
PARSED = Plan((SubQuestion(1, "Who designed the Lumen Bridge?"), SubQuestion(2, "Where was #1 born?")))
DIAMOND = ["Who wrote Salt Road?", "Where was #1 born?", "Where did #1 die?", "How far is #2 from #3?"]


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
    [
        ("Who directed Alien?", ()),
        ("Where was #1 born?", (1,)),
        ("#1", (1,)),
        ("#1 >> place of birth", (1,)),
        ("what was #1 's currency", (1,)),
        ("What is #1's mother's name?", (1,)),
        ('(#2), #1: "#10"?', (1, 2, 10)),
        ("Is #12 older than #2, and #2 than #12?", (2, 12)),  # each once
        ("#3_#4", (3, 4)),
        ("#01", (1,)),
        ("Who made C#?", ()),
        ("Who made C#7?", ()),
        ("What is é#1?", ()),
        ("#MeToo #4chan issue #4a #1é #1٢", ()),
        ("12#3", ()),
        ("# 1, #, #-1", ()),
    ],
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
    assert [plan.ancestors(id) for id in (1, 2, 3)] == [set(), {1}, {1, 2}]


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
    [
        BRIDGE,
        [
            {"id": 7, "question": "Who designed the Lumen Bridge?"},
            {"id": 0, "question": " Where was #7 born?\n", "retrieve": True},
        ],
        [
            {"id": 404363, "question": "Who designed the Lumen Bridge?"},
            {"id": 2, "question": "Where was #404363 born?", "why": "a bridge"},
        ],
        ["Who designed the Lumen Bridge?", "Where was #1 born?"],
        [{"question": "Who designed the Lumen Bridge?"}, {"question": "Where was #1 born?"}],
        # the id of the first is the place of the second: places count
        [
            {
                "id": 2,
                "question": "Who designed the Lumen Bridge?",
                "answer": "Mira Okafor",
                "paragraph_support_idx": 3,
            },
            {"id": 9, "question": "Where was #1 born?", "answer": "Tarn", "paragraph_support_idx": None},
        ],
        {
            "id": "2hop__1_2",
            "question": "Where ...?",
            "question_decomposition": [
                {"id": 8, "question": "Who designed the Lumen Bridge?"},
                {"id": 9, "question": "Where was #1 born?"},
            ],
        },
        {
            "questions": [
                {"question": "Who designed the Lumen Bridge?", "requires_retrieval": True},
                {"question": "Where was #1 born?", "requires_retrieval": "true"},
            ]
        },
        {"questions": [{"question": "Who designed the Lumen Bridge?"}, {"question": "Where was #1 born?"}]},
        {"plan": BRIDGE, "question": "Where was the designer of the Lumen Bridge born?"},
    ],
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
    [
        ("", "the plan is empty"),
        (" \n", "the plan is empty"),
        ([], "the plan is empty"),
        ("[]", "the plan is empty"),
        ({"questions": []}, "the plan is empty"),
        ("Who directed Alien?", "the plan is not JSON (Expecting value: line 1 column 1"),
        ('["a",\n"b"', "not JSON (Expecting ',' delimiter: line 2"),
        ('"a question"', "no shape that is known"),
        (None, "no shape that is known"),
        ({}, "no shape that is known"),
        ({"questions": "a"}, "no shape that is known"),
        ({"plan": ["a"], "questions": ["b"]}, "the plan has both 'plan' and 'questions'"),
        ([1], "step 1 is neither a question nor a record"),
        (["a", ["b"]], "step 2 is neither a question nor a record"),
        (["a", None], "step 2 is neither a question nor a record"),
        (["a", " "], "step 2 has no question"),
        ([{"id": 5, "question": "\t"}], "step 5 has no question"),
        ([{"id": 5}], "step 5 has no question"),
        ([{"question": None}], "step 1 has no question that can be asked"),
        ([{"id": 3, "question": "a"}, {"id": 3, "question": "b"}], "two steps have the id 3"),
        ([{"id": True, "question": "a"}], "has no id that is a whole number"),
        ([{"id": "1", "question": "a"}], "has no id that is a whole number"),
        ([{"id": -1, "question": "a"}], "has no id that is a whole number"),
        (
            [{"id": 1, "question": "a"}, {"question": "b"}],
            "the step in place 2 has no id that is a whole number",
        ),
        ([{"id": 1, "question": "a"}, "b"], "the step in place 2 has no id that is a whole number"),
        ([{"question": "a", "retrieve": "no"}], "'retrieve' of step 1 is neither true nor false"),
        ([{"question": "a", "retrieve": 1}], "'retrieve' of step 1 is neither true nor false"),
        (
            [{"question": "a", "requires_retrieval": None}],
            "'requires_retrieval' of step 1 is neither true nor false",
        ),
        (["a", "b #7"], "step 2 refers to #7, and there is no step 7"),
        (["a", "b #0"], "step 2 refers to #0, and there is no step 0"),
        (
            [{"id": 10, "question": "a"}, {"id": 20, "question": "b #1"}],
            "step 20 refers to #1, and there is no step 1",
        ),
        (
            [
                {"id": 404363, "question": "a", "answer": "x"},
                {"id": 5, "question": "b #404363", "answer": "y"},
            ],
            "step 2 refers to #404363, and there is no step 404363",
        ),
        (
            ["What was the #1 hit of 1984?"],
            'step 1 refers to itself. Refer to another step, or write "number 1" if no step is meant',
        ),
        ([{"id": 8, "question": "a"}, {"id": 9, "question": "b #8 #9"}], "step 9 refers to itself"),
        (["a #2", "b #1"], "in a circle: 1 -> 2 -> 1"),
        (["a", "b #1 #4", "c #2", "d #3", "e #4"], "in a circle: 2 -> 4 -> 3 -> 2"),
        (
            [
                {"id": 30, "question": "a #20"},
                {"id": 20, "question": "b #10"},
                {"id": 10, "question": "c #20"},
            ],
            "in a circle: 20 -> 10 -> 20",
        ),
        ([{"question": "a", "retrieve": False}], "no step of the plan retrieves anything"),
        (
            [
                {"id": 4, "question": "a"},
                {"id": 5, "question": "Is #4 old?", "retrieve": False},
                {"id": 6, "question": "Where was #5 born?"},
            ],
            "step 6 needs the answer of step 5, which has none because nothing is retrieved for it",
        ),
        (
            [
                {"question": "a"},
                {"question": "Is #1 old?", "retrieve": False},
                {"question": "Is #2 right?", "retrieve": False},
            ],
            "step 3 needs the answer of step 2",
        ),
        (["a\0"], "step 1 has no question that can be asked"),
        ('["a \\ud800"]', "half a surrogate pair"),
    ],
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
