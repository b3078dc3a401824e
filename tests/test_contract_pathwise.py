"""`pathwise` without a language model, on every engine: the example workspaces, with a plan and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import samples
from contract import HOSTILE

from gsw_graph.cli.text.answers import print_answer
from gsw_graph.memory import Memory
from gsw_graph.model.results import Conflict
from gsw_graph.store.reader import Reader

EXAMPLES = Path(__file__).parents[1] / "examples"
COMPARED = "Which was built first, the Marrow Bridge or the Cray Bridge?"


@pytest.fixture
def memory(fresh_settings, fake_embedder):
    with Memory.open(settings=fresh_settings) as opened:
        opened.load(EXAMPLES / "workspaces.jsonl")
        yield opened


def steps(answer):
    assert answer.trace is not None
    found = {}
    for step in answer.trace.steps:
        found.setdefault(step.agent, []).append(step.outcome)
    return found


def test_the_whole_strategy(memory):
    sides = memory.ask(COMPARED, strategy="pathwise", k=4, trace=True)
    assert sides.strategy == "pathwise"
    assert {"Marrow Bridge", "Cray Bridge"} & {passage.title for passage in sides}
    told = steps(sides)
    assert told["intent"][0].startswith("comparative")
    assert told["selection"][0].startswith("comparative matrix")
    assert {"path 1", "path 2", "whole question"} <= set(told)
    assert (sides.why or "").startswith("no language model is set: rules of English")

    plan = json.loads((EXAMPLES / "plan.json").read_text())
    planned = memory.ask(
        "Which river flows through the town where the builder of the Marrow Bridge was born?",
        strategy="pathwise",
        plan=plan,
    )
    assert planned.answer == "Lissel"
    assert planned.plan_source == "given"
    assert planned.chains

    simple = memory.ask("Who built the Marrow Bridge?", strategy="pathwise", trace=True, answer=False)
    dense = memory.ask("Who built the Marrow Bridge?", strategy="dense")
    assert steps(simple)["selection"][0].startswith("dense precision")
    assert [passage.id for passage in simple] == [passage.id for passage in dense]

    for text in HOSTILE[:8]:
        assert (
            memory.ask(f"Who is older, {text} Ann or Joe {text}?", strategy="pathwise", keep=False).strategy
            == "pathwise"
        )


def test_a_candidate_has_both_scores(memory):
    """Equation 12, computed from both lists whole: what one of two short lists lacked once counted 0."""
    asked = "Which river flows under the Marrow Bridge?"
    options = {"k": 100, "answer": False, "keep": False}
    cosines = {p.id: p.score for p in memory.ask(asked, strategy="dense[rerank=0]", **options)}
    words = {p.id: p.score for p in memory.ask(asked, strategy="bm25[rerank=0]", **options)}
    short = {**options, "k": 3}
    near = {
        passage.id
        for way in ("dense", "bm25")
        for passage in memory.ask(asked, strategy=f"{way}[rerank=0]", **short)
    }
    assert len(near) > 3
    largest = max(words.values())
    scores = {id_: 0.6 * cosines[id_] + 0.4 * words.get(id_, 0.0) / largest for id_ in near}
    expected = sorted(scores.values(), reverse=True)[:3]
    recipe = "pathwise[recipe=paper, documents=3, selection=false]"
    found = memory.ask(asked, strategy=recipe, **short).passages
    assert [passage.score for passage in found] == pytest.approx(expected, abs=0.01)
    assert {passage.id for passage in found} <= near


def test_a_candidate_within_a_scope_has_both_scores(memory, monkeypatch):
    """Its words may be found in so many other passages that it is none of the first of all."""
    monkeypatch.setattr("gsw_graph.store.reader._WORDED", 1)
    reader = Reader(memory._connection)
    titles = {passage.title: passage.id for passage in memory.ask("bridge", strategy="bm25[rerank=0]", k=100)}
    assert len(titles) > 1
    last = list(titles.values())[-1]
    reader.scope, reader.open = {last: True}, False
    _, reader._total = reader.size()
    vector = memory.embedder.encode_query(["bridge"])[0].tolist()
    rows = reader.rows("read/hybrid", spread=1.0, k=3, most=1, words="bridge", embedding=vector)
    assert not any(row["lexical"] for row in rows)
    (found,) = reader.hybrid(vector, "bridge", 3, 0.0)
    assert (found.id, found.score) == (last, 1)


def test_contradictions_are_found_and_say_who_says_what(fresh_settings, fake_embedder, tmp_path, capsys):
    def record(id_, year):
        phrase = {
            "phrase": "built",
            "questions": [{"text": "When was the Stone Pier built?", "answers": [year]}],
        }
        entities = [samples.entity("Stone Pier", structure=[]), samples.entity(year, date=[])]
        return {
            "id": id_,
            "title": id_,
            "text": f"The Stone Pier was built in {year}, says {id_}.",
            "entities": entities,
            "verb_phrases": [phrase],
        }

    said = [record("Almanac", "1902"), record("Ledger", "1902"), record("Rumour", "1911")]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, said)))
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(tmp_path / "said.jsonl")
        answer = memory.ask("When was the Stone Pier built?", strategy="pathwise", trace=True)
        (found,) = answer.conflicts
        assert isinstance(found, Conflict)
        expected = [
            ("1902", ["Almanac", "Ledger"]),
            ("1911", ["Rumour"]),
        ]
        assert [(claim.answer, sorted(claim.titles)) for claim in found.claims] == expected
        assert [claim.confidence for claim in found.claims] == pytest.approx([2 / 3, 1 / 3])
        assert json.loads(json.dumps(answer.to_dict()))["conflicts"][0]["claims"][1]["titles"] == ["Rumour"]
        assert "Passages disagree: When was the Stone Pier built? 1902 (67%: " in str(answer)
        print_answer(answer)
        assert "/ 1911 (33%: Rumour)" in capsys.readouterr().out


def test_every_strategy_says_what_contradicts_its_answer_and_is_less_sure(
    fresh_settings, fake_embedder, tmp_path
):
    """The default was silent, and as sure as if all passages said the same."""

    def record(id_, mayor, text):
        phrase = {
            "phrase": "mayor of",
            "questions": [{"text": "Who was the mayor of Norley?", "answers": [mayor]}],
        }
        return {
            "id": id_,
            "title": id_,
            "text": text,
            "entities": [samples.entity("Norley"), samples.entity(mayor)],
            "verb_phrases": [phrase],
        }

    sure = []
    for text in ("{} was the mayor of Norley.", "{} was the mayor of Norley in 19{}."):
        said = [
            record("Almanac", "Joe Reed", text.format("Joe Reed", "01")),
            record("Ledger", "Ann Bell", text.format("Ann Bell", "90")),
        ]
        (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, said)))
        with Memory.open(settings=fresh_settings) as memory:
            memory.forget(everything=True)
            memory.load(tmp_path / "said.jsonl")
            answer = memory.ask("Who was the mayor of Norley?", question_cache=False)
            sure.append((len(answer.conflicts), answer.confidence or 0.0))
    assert [conflicts for conflicts, _ in sure] == [1, 0]
    assert sure[0][1] == pytest.approx(sure[1][1] / 2, abs=0.1)


def test_auto_searches_for_each_name_that_a_question_compares(sample):
    answer = sample.ask(COMPARED, keep=False)
    assert answer.strategy == "linked"
    assert answer.why == "the question compares names: each was searched for"
    whole = sample.ask(samples.QUESTION, keep=False)
    assert whole.strategy == "fusion"
    assert whole.why == "the memory holds question-answer pairs"
    assert sample.ask(COMPARED, plan=["Who built the Marrow Bridge?"], keep=False).strategy == "fusion"
    described = sample.ask(
        "Who was born first, the builder of the Marrow Bridge or the builder of the Cray Bridge?", keep=False
    )
    assert described.strategy == "fusion"
