"""Routes that ask: a question, the passages for one, what was asked before, and the graph of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from gsw_graph.cancel import Cancel
from gsw_graph.errors import InputError
from gsw_graph.results import Answer, AskedQuestion
from gsw_graph.results.rebuilt import rebuilt
from gsw_graph.serve.desk import Asked, At, Limit, Skip, json
from gsw_graph.serve.events import Events, Say

router = APIRouter(tags=["ask"])

MOST = 100  # passages of an answer
LONGEST = 4000  # characters of a question


class Question(BaseModel):
    """What `gswgraph ask` is told."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST)
    strategy: str = Field("auto", max_length=100)
    plan: list[Any] | dict[str, Any] | bool | None = Field(
        None,
        description="Sub-questions to follow, as `ask --plan` reads them; false: none, nor one made.",
    )
    k: int = Field(5, ge=1, le=MOST, description="How many passages.")
    answer: bool = Field(True, description="false: chains and passages only.")
    trace: bool = Field(False, description="How the passages were found; a graph of the answer shows it.")
    llm: bool = Field(True, description="false: no language model is asked, though one is set.")
    keep: bool = Field(True, description="false: the question is not kept in the memory.")
    budget: str | None = Field(None, description="What the model may take: 2000tok, or 0.05 (dollars).")
    past: bool = Field(True, description="Use what was asked before in other words.")
    evidence: Literal["lines", "compact"] = Field("lines", description="In which form the model is shown it.")
    build_runs: bool = Field(
        True, description="false: `pruned` fails where runs are missing, and builds none."
    )


class Search(BaseModel):
    """What passages are looked for by."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST)
    strategy: str = Field("auto", max_length=100)
    k: int = Field(5, ge=1, le=MOST)


class Drawn(BaseModel):
    """What is drawn: an answer as `ask` gave it (with its trace, where it was asked for), or what a Cypher
    query that only reads returns."""

    model_config = ConfigDict(extra="forbid")

    answer: dict[str, Any] | None = None
    query: str | None = None
    parameters: dict[str, Any] = {}


@router.post("/ask", summary="Ask a question", response_model=None)
async def ask(at: At, asked: Question) -> Response:
    """The answer, as `gswgraph ask --json` prints it.

    As events: `stage` (what is being done: `stage`, and `text` or null), `text` (a piece of the language
    model's answer as it comes), at the end `answer`, the whole result."""
    given = asked.model_dump()
    for writes in ("keep", "build_runs"):
        given[writes] = given[writes] and not at.desk.read_only

    def work(cancel: Cancel, say: Say) -> Any:
        found = at.memory.ask(
            given.pop("question"),
            **given,
            on_text=lambda text: say("text", {"text": text}),
            on_stage=lambda stage, text: say("stage", {"stage": stage, "text": text}),
            cancel=cancel,
        )
        return found.to_dict()

    if at.streams:
        return Events(at.desk.asks, work, "answer")
    return json(await at.run(at.desk.asks, lambda cancel: work(cancel, _silent)))


@router.post("/search", summary="Find passages", response_model=None)
async def search(at: At, wanted: Search) -> Response:
    """The passages for a question, best first; no language model is asked, and nothing is kept."""

    def work(cancel: Cancel) -> Any:
        found = at.memory.ask(
            wanted.question,
            strategy=wanted.strategy,
            k=wanted.k,
            answer=False,
            llm=False,
            keep=False,
            build_runs=not at.desk.read_only,
            cancel=cancel,
        )
        return {"strategy": found.strategy, "passages": [one.to_dict() for one in found.passages]}

    return json(await at.run(at.desk.asks, work))


@router.get("/questions", summary="List what was asked", response_model=None)
async def questions(at: At, text: str = "", skip: Skip = 0, limit: Limit = 100) -> Response:
    """The questions that were asked, the latest first, as `gswgraph history --json` prints them. text: in the
    question or its answer. limit: so many, after the first `skip`."""
    return await at.read(lambda: at.memory.history(text, skip=skip, limit=limit))


@router.get("/questions/{which}", summary="Show a question that was asked", response_model=None)
async def question(at: At, which: str) -> Response:
    """One question with what its answer used. which: its number in the list, 1 is the latest, or the
    beginning of its id."""
    return await at.read(lambda: at.memory.asked(_kept(which)))


@router.post("/questions/{which}/confirm", summary="Say that an answer is right", response_model=None)
async def confirm(at: At, which: str) -> Response:
    """The question as it is kept then; it may be answered again as it was. which: as above."""
    return await _judged(at, which, at.memory.confirm)


@router.post("/questions/{which}/reject", summary="Say that an answer is wrong", response_model=None)
async def reject(at: At, which: str) -> Response:
    """The question as it is kept then; nothing of its answer is used again. which: as above."""
    return await _judged(at, which, at.memory.reject)


@router.post("/draw", summary="Draw an answer, or what a query returns", response_model=None)
async def draw(at: At, what: Drawn) -> Response:
    """The graph as data: `nodes`, `edges`, `passages` behind them, `columns`, `colours`. With `Accept:
    text/html` a page that needs nothing else, as `gswgraph ask --html` writes it."""
    if (what.answer is None) == (what.query is None):
        raise InputError("draw either an answer or a query", hint="Send one of `answer` and `query`")

    def work(cancel: Cancel) -> Any:
        from gsw_graph.picture.page import data

        if what.answer is not None:
            picture = at.memory.draw(rebuilt(Answer, what.answer))
        else:
            seconds = at.desk.limits.seconds
            picture = at.memory.draw(
                str(what.query), timeout=seconds, cancel=cancel, **at.desk.parameters(what.parameters)
            )
        return picture.html() if at.wants_html else data(picture)

    made = await at.run(at.desk.reads, work)
    return HTMLResponse(made) if at.wants_html else json(made)


async def _judged(at: Asked, which: str, judge: Callable[[int | str], AskedQuestion]) -> Response:
    at.desk.check_writable()
    return await at.read(lambda: judge(_kept(which)))


def _kept(which: str) -> int | str:
    """As `Memory.asked` takes it; eight letters of an id are shown, and may be digits."""
    return int(which) if which.isdecimal() and len(which) < 8 else which


def _silent(_: str, __: Any) -> None:
    pass
