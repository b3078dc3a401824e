"""Agents: steps in the trace, several at once, and how they end."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from gsw_graph.ask.retrieve.agents import HaltedError, Team, side_by_side
from gsw_graph.errors import ModelUnavailableError
from gsw_graph.model.results import Trace
from gsw_graph.models.chat.request import Reply, Request

REQUEST = Request("rewrite", ({"role": "user", "content": "Who?"},))


class Model:
    model = "m"

    def __init__(self, says="yes", seconds=0.0):
        self.says = says
        self.seconds = seconds
        self.calls = 0

    def ask(self, request, check, *, on_text=None):
        self.calls += 1
        time.sleep(self.seconds)
        if isinstance(self.says, Exception):
            raise self.says
        return Reply(check(self.says), False, 10, 2, self.seconds)


def team(llm=None, trace=True, took=None):
    context = SimpleNamespace(
        llm=llm,
        trace=Trace() if trace else None,
        start_stage=lambda stage, text: None,
        add_seconds=lambda *spent: took is not None and took.append(spent),
    )
    context.fork = lambda: SimpleNamespace(trace=None)
    context.join = lambda part: None
    return Team(context)


def test_a_search_that_fails_is_a_step_and_takes_its_turn_with_it():
    def lost(context):
        raise ValueError("the engine went away")

    one = team()
    with pytest.raises(ValueError, match="went away"):
        one.agent("a").search("search", "who lit it", lost, ["read/dense"], list)
    (step,) = one.context.trace.steps
    assert step.task == "who lit it"
    assert step.outcome == ""
    assert step.failed == "the engine went away"
    assert step.statements == ["read/dense"]
    one.agent("a").search("search", "who lit it", lambda context: [], ["read/dense"], list)
    assert len(one.context.trace.steps) == 2


def test_searches_run_side_by_side():
    """Each waits until all search: one after another they would never meet."""
    one = team()
    met = threading.Barrier(4, timeout=10)

    def run(context):
        met.wait()
        return []

    found = side_by_side(one, [lambda: one.agent("a").search("search", "?", run, [], list)] * 4)
    assert found == [[]] * 4


@pytest.mark.parametrize(
    "error", [ModelUnavailableError("the key is refused"), KeyboardInterrupt(), ValueError("ours")]
)
def test_what_ends_the_question_ends_all_agents(error):
    model = Model()
    one = team(model)
    gate = threading.Event()
    halted = []

    def ends():
        raise error

    def goes_on():
        gate.wait(20)
        try:
            one.agent("late").ask(REQUEST, str, "?", str)
        except HaltedError:
            halted.append(True)
            raise

    with pytest.raises(type(error)):
        side_by_side(one, [goes_on, ends])
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "gswgraph-worker":
            thread.join(20)
    assert halted == [True]
    assert model.calls == 0
