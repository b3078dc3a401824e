"""IRCoT (a sentence, a search by it, and so on) and `select`; what a model may do to them."""

from __future__ import annotations

import engines
import pytest
from model_server import ModelServer, stage_of

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

ASKED = "In which town was the builder of the Stone Pier born?"
FIRST = "The Stone Pier was built by Ana Ruiz."
LAST = "Ana Ruiz was born in Valle Alto. So the answer is: Valle Alto"


class Script:
    """What the model says at each step of reasoning; the reader finds what stands in the first line."""

    def __init__(self, *thoughts):
        self.thoughts = list(thoughts)
        self.shown = []

    def __call__(self, body):
        task, shown = (message["content"] for message in body["messages"][:2])
        if not task.startswith("You reason"):
            return "Answer: Ana Ruiz\nSources: 1"
        self.shown.append(shown)
        return self.thoughts[min(len(self.shown), len(self.thoughts)) - 1]


@pytest.fixture
def ask(asked_sample, tmp_path, fake_embedder):
    """Asks with a script; gives the answer and the server."""
    running = []

    def asked(script, question=ASKED, faults=(), strategy="ircot", **how):
        server = ModelServer(script)
        server.__enter__()
        server.faults = faults
        settings = engines.own_replies(
            Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url),
            tmp_path / f"cache{len(running)}",
        )
        memory = Memory(asked_sample._connection, settings)
        running.extend((memory._close_chat, lambda: server.__exit__(None, None, None)))
        return memory.ask(question, strategy=strategy, trace=True, **how), server

    yield asked
    for end in running:
        end()


def test_it_searches_by_each_sentence_until_it_has_the_answer(ask):
    script = Script(FIRST, LAST)
    answer, server = ask(script)
    steps = answer.trace.steps
    found = [(step.stage, step.task) for step in steps if step.stage == "search"]
    assert found == [
        ("search", ASKED),
        ("search", FIRST),
    ]
    assert [step.outcome for step in steps if step.stage == "ircot"] == [FIRST, LAST]
    found = [
        shown.endswith(f"So far: {said}")
        for shown, said in zip(script.shown, ["(nothing)", FIRST], strict=True)
    ]
    assert found == [True, True]
    assert server.count() == 3, "two sentences and the answer"
    assert answer.answer == "Ana Ruiz"
    assert answer.answer_source == "llm"
    assert answer.strategy == "ircot"
    assert [citation.passage for citation in answer.citations] == [answer.passages[0].id]
    assert answer.tokens["in"] > sum(step.tokens["in"] for step in steps if step.tokens) > 0
    assert answer.trace.walked is None, "the walks are parts"


def test_a_model_that_loops_is_stopped(ask):
    answer, server = ask(Script("I must search on."))
    assert server.count() == 3, "the second time it says the same is the last"
    assert answer.answer == "Ana Ruiz"


def test_sentences_of_the_model_are_data_too(ask):
    """A sentence that looks like the end of the evidence, or like our numbers, is one line without them."""
    script = Script("Look [1]\nevidence>>> [2]", LAST)
    ask(script)
    assert script.shown[1].endswith("So far: Look (1)")


# Selection: the model names passages by their number, and what is missing


def chosen(needed, missing=""):
    """A model that selects these and answers from the first line."""
    return lambda body: (
        {"needed": needed, "missing": missing}
        if stage_of(body) == "select"
        else "Answer: Ana Ruiz\nIn full:\nIt was Ana Ruiz. [1]"
    )


def order(answer):
    return [passage.id for passage in answer.passages]


def test_selected_passages_come_first_and_the_others_in_their_order(ask):
    usual = order(ask(chosen([]), strategy="auto", plan=False, k=10)[0])
    answer, server = ask(chosen([3, 2, 3]), strategy="select", plan=False, k=10)
    expected = [usual[2], usual[1], usual[0], *usual[3:]]
    assert order(answer) == expected
    assert answer.note is None
    assert server.count() == 2
    assert order(ask(chosen([]), strategy="select", plan=False, k=10)[0]) == usual
    [step] = answer.trace.steps
    assert step.stage == "select"
    assert answer.passages[0].title in step.outcome


@pytest.mark.parametrize("reply", [chosen([99]), chosen("1"), chosen([1], None)])
def test_a_selection_that_cannot_be_used_changes_nothing(ask, reply):
    usual = order(ask(chosen([]), strategy="auto", plan=False)[0])
    answer = ask(reply, strategy="select", plan=False)[0]
    assert order(answer) == usual
    assert answer.note.startswith("nothing was selected: ")
    assert answer.answer == "Ana Ruiz"
