"""The question cache: a question that was asked before in other words is answered from what its answer used, and never from one that is wrong,
that has changed, or that another question got."""

from __future__ import annotations

from dataclasses import replace

import engines
import fakes
import pytest
import samples
from contract import rows
from dump import version
from model_server import ModelServer

from gsw_graph.errors import InputError
from gsw_graph.memory import Memory

OTHER_WORDS = "The builder of the Stone Pier was born in a town: on which river lies that town?"
AGAIN = f"{samples.QUESTION.lower()} ?"
DIED = "On which river lies the town where the builder of the Stone Pier died?"
ANSWER = "the ombre"


def first(memory):
    answer = memory.ask(samples.QUESTION, plan=samples.PLAN)
    assert answer.answer == ANSWER
    assert answer.cached is None
    return answer


def test_a_confirmed_answer_is_given_again_with_its_citations(sample):
    old = first(sample)
    stamp = version(sample)
    assert old.id is not None
    assert sample.confirm(old.id[:10]).verdict == "confirmed"
    new = sample.ask(AGAIN)
    assert new.answer == ANSWER
    assert new.answer_source == "cache"
    assert new.abstained is False
    assert new.cached is not None
    assert new.cached.id == old.id
    assert new.cached.question == samples.QUESTION
    assert new.cached.confirmed is True
    assert new.cached.used == "answer"
    assert set(new.citations) == set(old.citations)
    assert new.round_trips == 2, "one for what people added"
    assert version(sample) == stamp
    assert rows(sample, "MATCH (q:Question)-[:REUSED]->(s:Question) RETURN q.id AS q, s.id AS s") == [
        (new.id, old.id)
    ]
    third = sample.ask(AGAIN)  # the nearest question is now one that was answered from the first
    assert third.cached is not None
    assert third.cached.id == old.id
    assert third.cached.confirmed is True
    assert sample.status().questions == {"kept": 3, "confirmed": 1, "rejected": 0, "reused": 2}
    found = [(question.verdict, question.cached_from) for question in sample.history().questions]
    expected = [
        (None, old.id),
        (None, old.id),
        ("confirmed", None),
    ]
    assert found == expected


def test_without_a_model_only_a_confirmed_answer_to_the_same_words_is_given_again(sample):
    old = first(sample)
    assert sample.ask(AGAIN).cached is None
    sample.confirm(str(old.id))
    assert sample.ask(OTHER_WORDS).cached is None
    assert sample.ask(AGAIN).cached is not None


@pytest.mark.parametrize("confirmed", [False, True])
def test_another_question_is_not_taken_for_it(sample, confirmed):
    old = first(sample)
    if confirmed:
        sample.confirm(str(old.id))
    for other in (
        DIED,
        samples.QUESTION.replace("Stone", "Iron"),
        samples.QUESTION.replace("river", "lake"),
        "Who is the mayor of Valle Alto?",
    ):
        assert sample.ask(other, keep=False).cached is None, other


def test_a_rejected_answer_is_never_used(sample):
    old = first(sample)
    sample.confirm(str(old.id))
    copied = sample.ask(AGAIN)
    assert copied.cached is not None
    sample.reject(str(old.id))
    for question in (samples.QUESTION, AGAIN):
        assert sample.ask(question).cached is None, "neither it nor what was answered from it"
    sample.confirm(str(old.id))  # people change their minds
    assert sample.ask(AGAIN).cached is not None


def test_what_somebody_wants_otherwise_is_not_answered_from_the_cache(sample):
    old = first(sample)
    sample.confirm(str(old.id))
    for how in (
        {"question_cache": False},
        {"strategy": "fusion"},
        {"plan": samples.PLAN},
        {"plan": False},
        {"answer": False},
    ):
        assert sample.ask(AGAIN, keep=False, **how).cached is None, how  # type: ignore[arg-type]
    assert sample.ask(AGAIN, keep=False).cached is not None


def test_a_question_that_may_not_see_everything_neither_uses_nor_feeds_the_cache(sample, tmp_path):
    old = first(sample)
    sample.confirm(str(old.id))
    hidden = old.citations[0]
    other = next(row for row in samples.RECORDS if row["id"] != hidden.source)
    for how in (
        {"excluded": hidden.passage},
        {"excluded": [hidden.passage]},
        {"outside": hidden.source},
        {"inside": other["id"]},
        {"where": f'source != "{hidden.source}"'},
    ):
        new = sample.ask(AGAIN, keep=False, **how)  # type: ignore[arg-type]
        assert new.cached is None, how
        assert hidden.passage not in {passage.id for passage in (*new.passages,)} | {
            one.passage for one in new.citations
        }, how
    new = sample.ask(AGAIN, shown=[one.passage for one in old.citations], k=2, keep=False)
    assert new.cached is None
    assert new.passages
    assert not {one.id for one in new.passages} & {one.passage for one in old.citations}, (
        "who has seen what it cites wants others"
    )
    kept = sample.ask(samples.QUESTION, plan=samples.PLAN, excluded=["an id of no passage"])
    assert kept.answer == ANSWER
    assert rows(sample, "MATCH (q:Question {id: $id}) RETURN q.limited AS limited", id=kept.id) == [(True,)]
    sample.confirm(str(kept.id))
    sample.reject(str(old.id))
    assert sample.ask(samples.QUESTION, keep=False).cached is None, "others may see more"


@pytest.mark.parametrize("change", ["forgotten", "replaced", "text", "hidden"])
def test_an_answer_whose_documents_changed_or_went_is_not_used(sample, tmp_path, change):
    old = first(sample)
    sample.confirm(str(old.id))
    assert sample.ask(AGAIN).cached is not None
    source = next(citation.source for citation in old.citations if citation.title == "Valle Alto")
    if change == "forgotten":
        found = sample.forget(source)
        assert found.forgotten == [source], "the question, and the one answered from it"
        assert found.questions == 2, "the question, and the one answered from it"
        assert rows(sample, "MATCH (q:Question) RETURN count(q) AS n") == [(0,)]
    elif change == "replaced":
        records = [
            {**record, "text": record["text"].replace("Ombre", "Duero")}
            if record["id"] == "valle"
            else record
            for record in samples.RECORDS
        ]
        assert sample.load(samples.jsonl(tmp_path / "workspaces.jsonl", records)).documents.replaced == 1
        assert rows(sample, "MATCH (q:Question) RETURN count(q) AS n") == [(2,)], (
            "what was asked is still known"
        )
    elif change == "text":
        sample.cypher(
            "MATCH (p:Passage {title: 'Valle Alto'}) SET p.text = 'Valle Alto lies on the Duero.'", write=True
        )
    else:
        sample.cypher("MATCH (d:Document {title: 'Valle Alto'}) SET d.status = 'loading'", write=True)
    assert sample.ask(AGAIN).cached is None


def test_a_question_that_is_not_there_or_not_answered_cannot_be_judged(sample):
    first(sample)
    with pytest.raises(InputError, match="no question 'zzz' was kept"):
        sample.confirm("zzz")
    sample.ask(samples.QUESTION, strategy="dense")
    with pytest.raises(InputError, match="not answered"):
        sample.reject(1)


class Reader:
    """A model that plans as samples do, and answers from the first line that holds the answer it was told."""

    def __init__(self):
        self.stages: list[str] = []
        self.answer: str | None = ANSWER

    def __call__(self, body):
        stage = body.get("response_format", {}).get("json_schema", {}).get("name") or "answer"
        self.stages.append(stage)
        if stage == "plan":
            return {
                "plan": [
                    {"id": n, "question": text, "retrieve": True} for n, text in enumerate(samples.PLAN, 1)
                ]
            }
        lines = [line for line in body["messages"][1]["content"].splitlines() if line.startswith("[")]
        held = [
            line[1 : line.index("]")]
            for line in lines
            if self.answer is not None and self.answer in line.lower()
        ]
        if held:
            return f"Answer: {self.answer}\nSources: {held[0]}"
        return "Not in the evidence: the river"


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def read(sample, reader, tmp_path):
    """The same memory, asked with a language model."""
    with ModelServer(reader) as server:
        settings = replace(
            engines.own_replies(sample.settings, tmp_path / "cache"), llm="m", llm_url=server.url
        )
        memory = Memory(sample._connection, settings, fakes.embedder(settings))
        yield memory
        memory._close_chat()


def test_a_model_reads_what_the_answer_cites_and_is_asked_for_no_plan(read, reader):
    old = read.ask(samples.QUESTION)
    assert old.answer == ANSWER
    assert old.plan_source == "llm"
    assert reader.stages == ["plan", "answer"]
    reader.stages.clear()
    new = read.ask(OTHER_WORDS)
    assert new.answer == ANSWER
    assert new.answer_source == "llm"
    assert reader.stages == ["answer"]
    assert new.cached is not None
    assert new.cached.used == "evidence"
    assert new.cached.confirmed is False
    assert 5 * sum(new.tokens[name] for name in ("in", "out")) <= sum(
        old.tokens[name] for name in ("in", "out")
    )
    reader.stages.clear()
    read.confirm(str(old.id))
    assert read.ask(AGAIN).answer_source == "cache"
    assert reader.stages == []
