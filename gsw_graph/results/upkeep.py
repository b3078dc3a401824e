"""What was checked, removed and written out."""

from __future__ import annotations

from dataclasses import dataclass

from gsw_graph.results.result import Result


@dataclass(frozen=True)
class Finding(Result):
    """One thing that `doctor` looked at; `mend` is the line that mends it."""

    check: str
    ok: bool
    found: str
    mend: str | None = None


@dataclass(frozen=True)
class Forgotten(Result):
    """What `forget` removed: sources of documents, and names it was given that the memory does not know;
    `questions`: how many whose answers cited these documents."""

    forgotten: list[str]
    unknown: list[str]
    questions: int = 0


@dataclass(frozen=True)
class Exported(Result):
    """What `export` wrote: how many documents and files, and where."""

    documents: int
    files: int
    folder: str


@dataclass(frozen=True)
class RunsReport(Result):
    """What `runs build` did: passages that it looked at, runs that it wrote, and how long that took."""

    passages: int
    runs: int
    seconds: float


@dataclass(frozen=True)
class RunCounts(Result):
    """The symbol codebook: relations, runs, edges that stand on a statement each, and passages that say
    something and have no run yet."""

    relations: int
    runs: int
    edges: int
    missing: int


@dataclass(frozen=True)
class Copied(Result):
    """What a dump, a restore or a copy wrote: nodes and relationships by kind."""

    source: str
    target: str
    nodes: dict[str, int]
    relationships: dict[str, int]
    seconds: float
