"""Runs of an evaluation: what is asked, what is kept, and what becomes of a run that was cut off."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from evaluate_fakes import FakeMemory, many, questions, record

from gsw_graph.config import Settings
from gsw_graph.errors import EngineError, InputError, ModelUnavailableError
from gsw_graph.evaluate import evaluate, run, write
from gsw_graph.evaluate.data import Plans
from gsw_graph.evaluate.journal import open_journal
from gsw_graph.evaluate.run import without_secrets as public
from gsw_graph.model.results import Statement

MODEL = Settings(llm="gpt")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(run, "WARM", 0.0)


def nothing(question, strategy):
    return [1]


def test_every_question_is_asked_with_every_strategy_and_another_first_each_time():
    memory = FakeMemory(nothing)
    evaluate(memory, questions(record("a", 1), record("b", 2)), ["linked", "dense"], k=7)
    assert memory.asked == [("a?", "linked"), ("a?", "dense"), ("b?", "dense"), ("b?", "linked")]
    found = {(call["k"], call["keep"], call["llm"]) for call in memory.calls}
    assert found == {(7, False, False)}


@pytest.mark.parametrize(
    ("settings", "options", "asked"),
    [
        (Settings(), {}, {"plan": None, "llm": False, "answer": True}),
        (MODEL, {}, {"plan": None, "llm": True, "answer": True}),  # the model plans, as `ask` does
        (
            MODEL,
            {"plans": "none"},
            {"plan": False, "llm": True, "answer": True},
        ),  # the model answers, and must not plan
        (
            MODEL,
            {"plans": "none", "answer": False},
            {"plan": None, "llm": False, "answer": False},
        ),  # nothing for the model to do
        (MODEL, {"plans": "model", "answer": False}, {"plan": None, "llm": True, "answer": False}),
        (MODEL, {"llm": False}, {"plan": None, "llm": False, "answer": True}),
        (MODEL, {"plans": "gold"}, {"plan": ["A?"], "llm": True, "answer": True}),
        (
            Settings(),
            {"plans": Plans("file", {"a": ["B?"]}, "1")},
            {"plan": ["B?"], "llm": False, "answer": True},
        ),
    ],
)
def test_plans_and_models(settings, options, asked):
    memory = FakeMemory(nothing, settings=settings)
    found = evaluate(memory, questions(record("a", 1, plan=["A?"])), ["ricr"], **options)
    assert {name: memory.calls[-1][name] for name in asked} == asked
    assert found.settings["llm"] == ("gpt" if asked["llm"] else None)
    assert memory.calls[0]["llm"] is memory.calls[0]["answer"] is False  # warming costs nothing


@pytest.mark.parametrize(
    ("strategies", "options", "message"),
    [
        (["magic"], {}, "no strategy 'magic'"),
        ([], {}, "no strategy is named"),
        (["linked", "linked"], {}, "named twice"),
        (["ricr"], {"plans": "gold"}, "no gold plans"),
        (["ricr"], {"plans": "model"}, "no language model"),
        (["ricr"], {"plans": "/nowhere/plans"}, "cannot be read"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_asked(strategies, options, message):
    memory = FakeMemory(nothing)
    with pytest.raises(InputError, match=message):
        evaluate(memory, questions(record("a", 1)), strategies, **options)
    assert memory.calls == []


def test_an_empty_memory_is_refused():
    memory = FakeMemory(nothing)
    memory.status = lambda: replace(FakeMemory(nothing).status(), nodes={})
    with pytest.raises(InputError, match=r"empty.*gswgraph load") as error:
        evaluate(memory, questions(record("a", 1)), ["linked"])
    assert "secret" not in str(error.value)


def test_a_question_that_cannot_be_asked_counts_as_not_found():
    memory = FakeMemory(lambda question, strategy: InputError("too odd") if question == "b?" else [1])
    found = evaluate(memory, questions(record("a", 1), record("b", 1, 2)), ["linked"])
    one = found.strategies["linked"]
    assert one["n"] == 2
    assert one["failed"] == 1
    assert one["recall"]["5"] == 0.5
    assert one["ms"]["mean"] == pytest.approx(20.0)
    assert found.failures == [{"question": "b", "strategy": "linked", "reason": "too odd"}]
    assert found.strategies["linked"]["silent"] == 0


def test_what_could_not_be_asked_is_asked_again_by_the_same_call(tmp_path):
    asked = questions(record("a", 1), record("b", 1))
    failed = FakeMemory(lambda question, strategy: InputError("too odd") if question == "b?" else [1])
    assert evaluate(failed, asked, ["linked"], out=tmp_path).failures
    mended = FakeMemory(nothing)
    found = evaluate(mended, asked, ["linked"], out=tmp_path)
    assert mended.asked == [("b?", "linked")]
    assert found == evaluate(FakeMemory(nothing), asked, ["linked"])
    again = FakeMemory(nothing)
    assert evaluate(again, asked, ["linked"], out=tmp_path) == found
    assert again.calls == [], "the last word on a question holds"


@pytest.mark.parametrize(
    "error", [EngineError("gone"), ModelUnavailableError("the key is refused"), KeyboardInterrupt()]
)
def test_what_ends_a_run_leaves_it_to_be_gone_on_with(tmp_path, error):
    asked = questions(*(record(f"q{n}", 1) for n in range(5)))
    memory = FakeMemory(lambda question, strategy: (_ for _ in ()).throw(error) if question == "q3?" else [1])
    with pytest.raises(type(error)):
        evaluate(memory, asked, ["linked"], out=tmp_path)
    memory = FakeMemory(nothing)
    seen = []
    found = evaluate(
        memory, asked, ["linked"], out=tmp_path, progress=lambda done, total: seen.append((done, total))
    )
    assert memory.asked == [("q3?", "linked"), ("q4?", "linked")]
    assert seen == [(3, 5), (4, 5), (5, 5)]
    assert found == evaluate(FakeMemory(nothing), asked, ["linked"])
    again = FakeMemory(nothing)
    evaluate(again, asked, ["linked", "dense"], out=tmp_path)  # a strategy more is asked alone
    assert {strategy for _, strategy in again.asked} == {"dense"}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_journal_that_was_cut_off_anywhere_gives_the_same_report(tmp_path, share):
    asked, found, said = many()
    write(evaluate(FakeMemory(found, said), asked, ["ricr", "linked"], k=5, out=tmp_path), tmp_path)
    whole = {name: (tmp_path / name).read_bytes() for name in ("answers.jsonl", "results.json")}
    (tmp_path / "answers.jsonl").write_bytes(
        whole["answers.jsonl"][: int(share * len(whole["answers.jsonl"]))]
    )
    write(evaluate(FakeMemory(found, said), asked, ["ricr", "linked"], k=5, out=tmp_path), tmp_path)
    for name, text in whole.items():  # in the journal what could not be asked may be there twice
        assert {*(tmp_path / name).read_bytes().split(b"\n")} == {*text.split(b"\n")}


def test_a_folder_of_another_run_is_refused(tmp_path):
    asked = questions(record("a", 1))
    memory = FakeMemory(nothing)
    evaluate(memory, asked, ["linked"], out=tmp_path)
    before = (tmp_path / "answers.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"another evaluation: k was 20 and is 3"):
        evaluate(FakeMemory(nothing), asked, ["linked"], k=3, out=tmp_path)
    memory = FakeMemory(nothing, settings=replace(memory.settings, reranker="some-model"))
    with pytest.raises(InputError, match="another evaluation: reranker was"):
        evaluate(memory, asked, ["linked"], out=tmp_path)
    with pytest.raises(InputError, match=r"questions was"):
        evaluate(FakeMemory(nothing), replace(asked, sha256="other"), ["linked"], out=tmp_path)
    assert (tmp_path / "answers.jsonl").read_bytes() == before


@pytest.mark.parametrize("text", ["my notes", "my notes\n", '{"run": 1}\n', "[]\n", "DAMAGED"])
def test_a_file_that_is_no_journal_is_not_touched(tmp_path, text):
    asked = questions(record("a", 1), record("b", 1))
    evaluate(FakeMemory(nothing), asked, ["linked"], out=tmp_path)
    journal = tmp_path / "answers.jsonl"
    if text == "DAMAGED":
        text = journal.read_text().replace('"key": "a"', '"key" "a"')
    journal.write_text(text)
    with pytest.raises(InputError, match=r"answers\.jsonl|another evaluation"):
        evaluate(FakeMemory(nothing), asked, ["linked"], out=tmp_path)
    assert journal.read_text() == text


def test_two_evaluations_in_one_folder_do_not_write_over_each_other(tmp_path):
    asked = questions(record("a", 1), record("b", 1))
    whole = evaluate(FakeMemory(nothing), asked, ["linked"], out=tmp_path)
    kept = (tmp_path / "answers.jsonl").read_bytes()
    run = json.loads(kept.split(b"\n")[0])["run"]
    with open_journal(tmp_path, run) as other:
        assert len(other.rows) == 2
        with pytest.raises(InputError, match="another evaluation writes here") as error:
            evaluate(FakeMemory(nothing), asked, ["linked"], out=tmp_path)
        assert error.value.where == str(tmp_path)
        assert (tmp_path / "answers.jsonl").read_bytes() == kept
    with pytest.raises(InputError, match="another evaluation: k"), open_journal(tmp_path, {**run, "k": 1}):
        pass  # refused, and so not held
    assert evaluate(FakeMemory(nothing), asked, ["linked"], out=tmp_path) == whole


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://ada:secret@host/v1?key=secret#secret", "http://host/v1"),
        ("https://host/v1?api-version=1&key=secret", "https://host/v1"),
        ("bolt://host:7687", "bolt://host:7687"),
    ],
)
def test_of_a_url_nothing_is_shown_that_may_hold_a_key(text, shown):
    assert public(text) == shown


def test_no_secret_is_kept(tmp_path):
    asked, found, said = many()
    settings = Settings(
        memory="bolt://host",
        password="secret",
        reranker="http://host:7687/rerank?key=secret",
        llm_url="http://host/v1#secret",
        llm_key="secret",
    )
    write(evaluate(FakeMemory(found, said, settings=settings), asked, ["ricr"], out=tmp_path), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"answers.jsonl", "answers.lock", "results.json"}
    for path in (tmp_path / name for name in ("answers.jsonl", "results.json")):
        assert "secret" not in path.read_text()
        assert "host:7687" in path.read_text()
    settings = json.loads((tmp_path / "results.json").read_text())["settings"]
    assert settings["config"]["embedder"] == "all-MiniLM-L6-v2"
    assert "Question" not in settings["memory"]["nodes"]


def test_an_answer_in_full_is_compared_without_the_numbers_of_its_citations():
    """A gold answer has none: as words they cost the right answer its exact match."""
    gold = "It was built of granite by a team of ten people in the spring of 1902"
    statements = [Statement(gold, [0])]
    said = {"answer": "granite", "text": f"{gold} [1]", "statements": statements}
    memory = FakeMemory(nothing, {("a?", "linked"): said}, settings=MODEL)
    asked = questions({**record("a", 1), "answers": [gold]})
    (row,) = evaluate(memory, asked, ["linked"]).questions
    assert row["strategies"]["linked"]["answer"] == gold
    assert row["strategies"]["linked"]["f1"] == 1
