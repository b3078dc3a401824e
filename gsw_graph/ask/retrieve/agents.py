"""Agents of a question: each asks the language model and searches the graph, and every step is in the trace;
several run at the same time.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.concurrency import map_unordered
from gsw_graph.errors import GswGraphError, InputError
from gsw_graph.model.results import AgentStep, RankedPassage
from gsw_graph.models.chat.request import Reply, Request
from gsw_graph.models.prompts import prompt
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from gsw_graph.ask.retrieve.context import RetrievalContext

    OnText: TypeAlias = Callable[[str], None] | None


T = TypeVar("T")
STAGE = "agents"  # of an answer's seconds: while the language model is asked by any of them


class HaltedError(GswGraphError):
    """Raised in an agent after another agent failed or Ctrl-C ended the question. No user sees this error."""


def request_for(task: str, user: str, schema: Fields | None = None, *, limit: int) -> Request:
    """Return a request of a task, by the prompt of the same name."""
    messages = ({"role": "system", "content": prompt(task)}, {"role": "user", "content": user})
    return Request(task, messages, schema, limit=limit)


def describe_steps(steps: Iterable[Any]) -> str:
    """Write the questions of a plan or network in one line, for the trace."""
    return " ".join(f"({step.id}) {step.question}" for step in steps)


class Team:
    """Run the agents of one question, whose searches and model calls run in parallel."""

    def __init__(self, context: RetrievalContext) -> None:
        self.context = context
        self.ended = threading.Event()  # no agent begins another step
        self._lock = threading.Lock()
        self._calls = 0  # under way
        self._since = 0.0  # when the first of them began

    @property
    def model(self) -> str:
        """Name the language model."""
        return self.context.llm.model if self.context.llm else ""

    def agent(self, name: str) -> Agent:
        """Return an agent; the trace shows the name."""
        return Agent(self, name)

    @contextmanager
    def call(self, agent: str, stage: str) -> Iterator[None]:
        """Clock a call of the language model. Of calls side by side the time passes once. Raises
        HaltedError."""
        with self.lock():
            if not self._calls:
                self._since = perf_counter()
            self._calls += 1
            self.context.start_stage(STAGE, f"{agent}: {stage}")
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    self.context.add_seconds(STAGE, perf_counter() - self._since)

    def lock(self) -> threading.Lock:
        """Return the lock of the trace and the clock. Raises HaltedError."""
        if self.ended.is_set():
            raise HaltedError("the question has ended")
        return self._lock

    def write(self, step: AgentStep) -> None:
        """Write a step into the trace, if there is one; from any thread."""
        with self._lock:
            if self.context.trace is not None:
                self.context.trace.steps.append(step)


class Agent:
    """Search and ask the model for one agent. name: Name of the agent in the trace."""

    def __init__(self, team: Team, name: str) -> None:
        self.team = team
        self.name = name

    def ask(
        self,
        request: Request,
        check: Callable[[Any], T],
        task: str,
        describe: Callable[[T], str],
        *,
        on_text: OnText = None,
    ) -> T:
        """Return the reply of the language model. task, describe: The step in words, for the trace.

        Raises InvalidReplyError if there is no usable reply or the budget is used up, ModelUnavailableError
        and InputError as the model does, and HaltedError."""
        llm = self.team.context.llm
        if llm is None:
            raise InputError("an agent needs a language model", hint="Name one by --llm or GSWGRAPH_LLM")
        start = perf_counter()
        try:
            with self.team.call(self.name, request.stage):
                reply = llm.ask(request, check, on_text=on_text)
        except GswGraphError as error:
            self._write(request.stage, task, "", start, failed=str(error))
            raise
        tokens = {"in": reply.prompt_tokens, "out": reply.completion_tokens}
        self._write(request.stage, task, describe(reply.value), start, tokens=tokens)
        return reply.value

    def search(
        self,
        stage: str,
        task: str,
        run: Callable[[RetrievalContext], T],
        statements: Sequence[str],
        passages: Callable[[T], Sequence[RankedPassage]],
        describe: Callable[[T], str] | None = None,
    ) -> T:
        """Return the result of `run`, in parallel with other searches. statements: Files of `cypher/` that it
        runs. passages: Returns the passages of a result, for the trace. describe: Returns a result in words,
        by default the titles of its passages. Raises HaltedError, and what `run` raises."""
        context = self.team.context
        with self.team.lock():
            context.start_stage("database", f"{self.name}: {stage}")
            part = context.fork()  # its trace is not written, as it would look like that of the question
        start = perf_counter()
        try:
            result = run(part)
        except Exception as error:
            self._write(stage, task, "", start, statements, failed=str(error))
            raise
        finally:
            with self.team.lock():
                context.join(part)
        shown = passages(result)
        if describe is not None:
            outcome = describe(result)
        else:
            outcome = "; ".join(passage.title or passage.id for passage in shown) or "nothing"
        self._write(stage, task, outcome, start, statements, shown)
        return result

    def note(self, stage: str, task: str, outcome: str, failed: str | None = None) -> None:
        """Add a step to the trace that uses neither model nor graph, such as a decision by a rule."""
        self._write(stage, task, outcome, perf_counter(), failed=failed)

    def _write(
        self,
        stage: str,
        task: str,
        outcome: str,
        start: float,
        statements: Sequence[str] = (),
        passages: Sequence[RankedPassage] = (),
        tokens: dict[str, int] | None = None,
        failed: str | None = None,
    ) -> None:
        ids = [passage.id for passage in passages]
        seconds = perf_counter() - start
        self.team.write(
            AgentStep(self.name, stage, task, outcome, list(statements), ids, tokens or {}, seconds, failed)
        )


def side_by_side(team: Team, tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks in parallel and return their results in order. An error of a task, or Ctrl-C in the waiting
    thread, ends the team and is raised."""

    def run(number: int) -> tuple[int, T]:
        return number, tasks[number]()

    try:
        results = dict(map_unordered(run, range(len(tasks)), len(tasks)))
    except BaseException:
        team.ended.set()
        raise
    return [results[number] for number in range(len(tasks))]


class AgentModel:
    """Ask the language model for an agent that reads evidence, with its task named in the trace. The trace
    has the costs of the replies."""

    def __init__(self, agent: Agent, task: str) -> None:
        self.model = agent.team.model
        self._agent = agent
        self._task = task

    def ask(self, request: Request, check: Callable[[Any], T], *, on_text: OnText = None) -> Reply[T]:
        """Return as `Agent.ask`; the reply is that of a reader."""
        value = self._agent.ask(request, check, self._task, _describe, on_text=on_text)
        return Reply(value, False, 0, 0, 0.0)


def _describe(reply: Any) -> str:
    return str(reply.answer or reply.missing or "nothing")
