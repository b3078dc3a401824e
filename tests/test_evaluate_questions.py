"""Questions in the shapes that data sets are published in, in small samples written for this test, and what is no question."""

from __future__ import annotations

import json

import pytest
from samples import cases

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import Gold, question_set, read_questions
from gsw_graph.evaluate.data import read_plans as plans

MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Where was the builder of the Marrow Bridge born?",
    "answer": "Skarholm",
    "answer_aliases": ["Skarholm Town", "Skarholm"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Marrow Bridge", "paragraph_text": "Built by Ada.", "is_supporting": True},
        {"idx": 1, "title": "Moss", "paragraph_text": "It is green.", "is_supporting": False},
        {"idx": 2, "title": "Ada", "paragraph_text": "Born in Skarholm.", "is_supporting": True},
    ],
    "question_decomposition": [
        {"id": 1, "question": "Marrow Bridge >> built by", "answer": "Ada", "paragraph_support_idx": 0},
        {"id": 2, "question": "Where was #1 born?", "answer": "Skarholm", "paragraph_support_idx": 2},
    ],
}
HOTPOT = {
    "_id": "5a7",
    "question": "Are Ada and Bob both builders?",
    "answer": "yes",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Ada", 0], ["Ada", 1], ["Bob", 0]],
    "context": [["Ada", ["Ada built.", " She rested."]], ["Moss", ["It is green."]], ["Bob", ["Bob built."]]],
}


NQ = {
    "question": "who built the marrow bridge",
    "reference": ["Ada", "Ada of Skarholm"],
    "contexts": [
        {"title": "Marrow Bridge", "text": "Built by Ada.", "is_supporting": True},
        {"title": "Moss", "text": "Green.", "is_supporting": False},
    ],
}


OWN = {
    "id": "o1",
    "question": "Who?",
    "answers": ["Ada", 7],
    "passages": ["T\ntext", {"title": "U", "text": "more"}],
    "sources": ["notes/a.md"],
    "plan": ["Who?"],
    "hops": 3,
}
EXAMPLE = {
    "id": "x",
    "question": "Who?",
    "answer": "Ada",
    "supporting": ["a.md"],
    "question_decomposition": [{"question": "Who?", "answer": "Ada"}],
}


def one(value):
    (found,) = question_set([("here", value)]).questions
    return found


def test_our_own_shape():
    found = one(OWN)
    assert found.shape == "own"
    assert found.answers == ("Ada", "7")
    assert found.hops == 3
    assert found.plan == ["Who?"]
    assert found.gold == (Gold("", "T\ntext"), Gold("U", "more"), Gold(source="notes/a.md"))
    example = one(EXAMPLE)
    assert example.gold == (Gold(source="a.md"),)
    assert example.hops == 1
    bare = one({"question": "Who?", "plan": ["A?", "B #1?"]})
    assert bare.answers == ()
    assert bare.gold == ()
    assert bare.hops == 2
    assert bare.answerable is True


@pytest.mark.parametrize(
    ("changes", "answerable"),
    cases(__file__, "what_the_corpus_does_not_answer"),
)
def test_what_the_corpus_does_not_answer(changes, answerable):
    found = one({**MUSIQUE, **changes})
    assert found.answerable is answerable
    assert bool(found.answers) is answerable


def test_ids_that_repeat_get_keys_that_do_not():
    found = question_set([("p", {**MUSIQUE, "id": id}) for id in ("a", "a", "a#2", "a", "b")]).questions
    assert [question.key for question in found] == ["a", "a#2", "a#2#2", "a#3", "b"]
    assert [question.id for question in found] == ["a", "a", "a#2", "a", "b"]


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda v: "\n".join(map(json.dumps, v)),
        lambda v: json.dumps({"data": v}, indent=1),
        lambda v: "\ufeff" + json.dumps(v),
    ],
)
def test_files(tmp_path, write):
    path = tmp_path / "q"
    path.write_text(write([MUSIQUE, {"title": "T", "text": "no question"}, HOTPOT]), encoding="utf-8")
    found = read_questions(path)
    assert [question.id for question in found.questions] == ["2hop__1_2", "5a7"]
    assert found.shapes == {"hotpotqa": 1, "musique": 1}
    (failure,) = found.failures
    assert failure.source in (f"{path}:2", f"{path}: record 2")
    assert failure.reason == "no `question`"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "7",
        '"x"',
        "[1, 2]",
        '{"title": "T", "text": "t"}',
        "not json",
        '[{"question": " "}]',
        "[" * 100_000,
        '{"question": "Who?"',
    ],
    ids=lambda text: text[:9],
)
def test_no_questions_is_one_error(tmp_path, text):
    path = tmp_path / "q"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_questions(path)
    assert str(path) in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "q").write_bytes(b'[{"question": "\xff"}]')
    for path in (tmp_path, tmp_path / "none", tmp_path / "q"):
        with pytest.raises(InputError, match=str(path)):
            read_questions(path)


@pytest.mark.parametrize(
    "changes",
    cases(__file__, "a_record_with_a_wrong_type_is_left_out_and_the_rest_is_read"),
)
def test_a_record_with_a_wrong_type_is_left_out_and_the_rest_is_read(changes):
    found = question_set([("bad", {**MUSIQUE, **changes}), ("good", HOTPOT)])
    assert [question.id for question in found.questions] == ["5a7"]
    assert [failure.source for failure in found.failures] == ["bad"]


def test_plans_of_the_data_set_and_of_files(tmp_path):
    asked = question_set([("p", MUSIQUE), ("p", NQ), ("p", {**MUSIQUE, "id": "other"})])
    first, second, third = asked.questions
    gold = plans("gold", asked)
    assert gold.of(first, "ricr", model=False) == MUSIQUE["question_decomposition"]
    assert gold.of(second, "ricr", model=False) is None
    assert gold.of(second, "ricr", model=True) is False  # the model answers, and shall not plan
    assert (
        gold.of(first, "linked", model=True) is None
    )  # which cannot be asked with a plan, not even with none
    assert plans("model", asked).of(first, "ricr", model=True) is None
    assert plans("none", asked).of(first, "ricr", model=True) is False
    path = tmp_path / "plans"
    forms = (
        {"2hop__1_2": ["A?"], "who built the marrow bridge": ["B?"]},
        [{"id": "2hop__1_2", "plan": ["A?"]}, {"question": NQ["question"], "plan": ["B?"]}],
    )
    for form in forms:
        path.write_text(json.dumps(form))
        found = plans(str(path), asked)
        assert found.kind == "file"
        assert found.of(first, "auto", model=False) == ["A?"]
        assert found.of(second, "ricr", model=False) == ["B?"]
        assert found.of(third, "ricr", model=False) is None
    path.write_text('{"id": "2hop__1_2", "plan": ["A?"]}\n{"id": "other", "question_decomposition": ["C?"]}')
    assert plans(str(path), asked).by_key == {"2hop__1_2": ["A?"], "other": ["C?"]}
    path.write_text(
        json.dumps({"question": NQ["question"], "questions": ["A?", "B #1?"]})
    )  # one line, and no list of records
    assert plans(str(path), asked).by_key == {"2": ["A?", "B #1?"]}
