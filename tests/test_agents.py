"""Agents: steps in the trace, several at once, and how they end."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from gsw_graph.ask.retrieve.agents import HaltedError, Team, side_by_side
from gsw_graph.errors import StoppedError
from gsw_graph.model.results import RankedPassage, Trace
from gsw_graph.models.chat.request import Reply, Request

REQUEST = Request("rewrite", ({"role": "user", "content": "Who?"},))


class Model:
    model = "m"

    def __init__(self, says: Any = "yes", seconds: float = 0.0) -> None:
        self.says, self.seconds, self.calls = says, seconds, 0

    def ask(self, request: Request, check: Any, *, on_text: Any = None) -> Reply[Any]:
        self.calls += 1
        time.sleep(self.seconds)
        if isinstance(self.says, Exception):
            raise self.says
        return Reply(check(self.says), False, 10, 2, self.seconds)


def team(llm: Any = None, trace: bool = True, took: list[Any] | None = None) -> Team:
    context: Any = SimpleNamespace(llm=llm, trace=Trace() if trace else None, begin=lambda stage, text: None, took=lambda *spent: took is not None and took.append(spent))
    context.fork, context.join = lambda: SimpleNamespace(trace=None), lambda part: None
    return Team(context)


def test_what_an_agent_asks_is_a_step() -> None:
    one = team(Model("Ana Ruiz"))
    assert one.agent("sub-question 1").ask(REQUEST, str, "Who lit it?", str.upper) == "Ana Ruiz"
    (step,) = one.context.trace.steps
    assert (step.agent, step.stage, step.task, step.outcome) == ("sub-question 1", "rewrite", "Who lit it?", "ANA RUIZ")
    assert (step.tokens, step.failed) == ({"in": 10, "out": 2}, None)


def test_what_an_agent_finds_is_a_step() -> None:
    one = team()
    passage = RankedPassage("p1", "Old Light", "Ana lit it.", "a.txt", "d1", 0.5)
    found = one.agent("a").search("search", "who lit it", lambda context: [passage], ["read/dense"], list)
    (step,) = one.context.trace.steps
    assert found == [passage]
    assert (step.outcome, step.passages, step.statements, step.tokens) == ("Old Light", ["p1"], ["read/dense"], {})


def test_a_search_that_fails_is_a_step_and_takes_its_turn_with_it() -> None:
    def lost(context: Any) -> list[RankedPassage]:
        raise ValueError("the engine went away")

    one = team()
    with pytest.raises(ValueError, match="went away"):
        one.agent("a").search("search", "who lit it", lost, ["read/dense"], list)
    (step,) = one.context.trace.steps
    assert (step.task, step.outcome, step.failed, step.statements) == ("who lit it", "", "the engine went away", ["read/dense"])
    one.agent("a").search("search", "who lit it", lambda context: [], ["read/dense"], list)
    assert len(one.context.trace.steps) == 2


def test_searches_run_side_by_side() -> None:
    """Each waits until all search: one after another they would never meet."""
    one, met = team(), threading.Barrier(4, timeout=10)

    def run(context: Any) -> list[RankedPassage]:
        met.wait()
        return []

    assert side_by_side(one, [lambda: one.agent("a").search("search", "?", run, [], list)] * 4) == [[]] * 4


@pytest.mark.parametrize("error", [StoppedError("the key is refused"), KeyboardInterrupt(), ValueError("ours")])
def test_what_ends_the_question_ends_all_agents(error: BaseException) -> None:
    model = Model()
    one = team(model)
    gate = threading.Event()
    halted: list[bool] = []

    def ends() -> None:
        raise error

    def goes_on() -> None:
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


def test_the_time_of_calls_side_by_side_passes_once() -> None:
    took: list[Any] = []
    one = team(Model(seconds=0.2), took=took)
    met = threading.Barrier(2, timeout=20)

    def asks() -> str:
        met.wait()
        return one.agent("a").ask(REQUEST, str, "?", str)

    side_by_side(one, [asks, asks])
    assert {stage for stage, _ in took} == {"agents"}
    assert sum(step.seconds for step in one.context.trace.steps) > sum(seconds for _, seconds in took) - 0.01
