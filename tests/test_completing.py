"""What the model says is missing is searched for once, and the answer is completed."""

from __future__ import annotations

from types import SimpleNamespace

import engines
import pytest
from model_server import ModelServer, stage_of, user_text

from gsw_graph.ask import completing
from gsw_graph.ask.answer.evidence import BUDGET, passage_lines
from gsw_graph.ask.answer.quotes import cite
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.model.results import RankedPassage
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import prompt

ASKED = "Who built the Stone Pier in 1902, and on which river does the birthplace lie?"
PARTIAL = "Answer: Ana Ruiz\nIn full:\nAna Ruiz built the Stone Pier. [1]\nMissing: On which river does Valle Alto lie?"
WHOLE = "Answer: Ana Ruiz; the Ombre\nIn full:\nAna Ruiz built the Stone Pier. [1]\nValle Alto lies on the Ombre. [2]"
REFUSAL = "Not in the evidence: On which river does Valle Alto lie?"


def script(first):
    """A model that answers in whole once it sees the river."""

    def reply(body):
        if stage_of(body) == "select":
            return {"needed": [1], "missing": ""}
        return WHOLE if "lies on the Ombre" in user_text(body) else first

    return reply


@pytest.fixture
def ask(asked_sample, tmp_path, fake_embedder):
    """Asks with the passages of one search as evidence; gives the answer and the server."""
    running = []

    def asked(reply, **how):
        server = ModelServer(reply)
        server.__enter__()
        made = Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url)
        settings = engines.own_replies(made, tmp_path / f"cache{len(running)}")
        memory = Memory(asked_sample._connection, settings)
        running.extend((memory._close_chat, lambda: server.__exit__(None, None, None)))
        how = {"strategy": "bm25", "k": 1, "evidence": "passages", "plan": False, "keep": False} | how
        return memory.ask(ASKED, **how), server

    yield asked
    for end in running:
        end()


@pytest.mark.parametrize("first", [PARTIAL, REFUSAL], ids=["partial", "refusal"])
def test_what_is_missing_is_searched_for_once_and_the_answer_completed(ask, first):
    answer, server = ask(script(first), trace=True)
    assert answer.answer == "Ana Ruiz; the Ombre"
    assert answer.missing is None
    assert not answer.abstained
    assert [citation.title for citation in answer.citations] == ["Stone Pier", "Valle Alto"]
    assert "searched for once more: On which river does Valle Alto lie?" in answer.note
    assert server.count() == answer.calls == 2
    assert [step.agent for step in answer.trace.steps] == ["completion"]


def test_what_may_not_be_seen_completes_nothing(ask):
    whole, _ = ask(script(PARTIAL))
    hidden = [citation.passage for citation in whole.citations if citation.title == "Valle Alto"]
    answer, server = ask(script(PARTIAL), excluded=hidden)
    assert answer.answer == "Ana Ruiz"
    assert answer.missing == "On which river does Valle Alto lie?"
    assert not answer.abstained
    assert not any("lies on the Ombre" in call.said for call in server.calls)


def test_an_answer_that_stays_partial_or_refuses_is_not_worse_than_the_first(ask):
    answer, server = ask(lambda body: REFUSAL if "Ombre" in user_text(body) else PARTIAL)
    assert answer.answer == "Ana Ruiz"
    assert answer.missing == "On which river does Valle Alto lie?"
    assert server.count() == 2


def test_the_second_reading_has_no_more_tokens_than_the_first(monkeypatch):
    text = f"The river Ombre. {'wide ' * 380}"
    *old, new, other = [RankedPassage(name, name, text, name, name, 0.5) for name in "abcdefg"]
    monkeypatch.setattr(completing, "_search", lambda *_: [new, other])
    draft = AnswerDraft("yes", citations=[cite(old[-1], "q", "yes")], missing="the river Ombre")
    read = []
    completing.complete(
        SimpleNamespace(notes=[]),
        draft,
        list(passage_lines(old)),
        lambda found: list(passage_lines(found)),
        lambda items: read.extend(items) or draft,
    )
    assert BUDGET * 0.9 < sum(estimate(item.text) for item in read) <= BUDGET
    assert "".join(item.passage.id for item in read) == "eabfg"  # what was cited is kept


def test_a_short_answer_is_not_completed(ask):
    answer, server = ask(script("Not in the evidence: On which river does Valle Alto lie?"), short=True)
    assert answer.answer is None
    assert server.count() == 1


def test_the_doubt_of_the_search_is_not_told_after_a_selection(ask):
    """The passages of an unrelated question are doubted, unless the model chose some of them."""
    for strategy, told in (("linked", True), ("select", False)):
        asked = []

        def reply(body, asked=asked):
            asked.append(user_text(body))
            return script(WHOLE)(body)

        ask(reply, strategy=strategy, k=5, evidence=None)
        assert (prompt("answer_doubt") in asked[-1]) <= told
