"""A memory with canned results, for tests of the command line: same surface as `gsw_graph.memory.Memory`, no engine and no model."""

from __future__ import annotations

import sys
from types import ModuleType

from gsw_graph.errors import InputError
from gsw_graph.results import (
    Answer,
    Citation,
    DocumentCounts,
    Finding,
    Forgotten,
    LoadReport,
    RankedPassage,
    Status,
    Step,
    Table,
    Trace,
)


class Progress:
    def __init__(self, documents: int, passages: int, total: int | None, stage: str) -> None:
        self.documents, self.passages, self.total, self.stage = documents, passages, total, stage


def passage(n: int, **changes: object) -> RankedPassage:
    plain = {
        "id": f"p{n}",
        "title": f"Title {n}",
        "text": f"Text {n}. " * 60,
        "source": f"/far/{n}.md",
        "document": f"d{n}",
        "score": 1 / n,
    }
    return RankedPassage(**(plain | changes))  # type: ignore[arg-type]


def canned(question: str, passages: list[RankedPassage], *, trace: Trace | None = None) -> Answer:
    return Answer(
        question=question,
        strategy="linked",
        answer=None,
        answer_source="none",
        abstained=not passages,
        confidence=None,
        citations=[Citation(p.id, p.document, p.title, p.source, p.text) for p in passages],
        passages=passages,
        chains=[],
        plan=None,
        round_trips=3,
        seconds={"embed": 0.0123, "total": 1.5},
        tokens={"in": 0, "out": 0},
        models={"embedder": "fake", "reranker": None, "llm": None},
        trace=trace,
    )


TRACE = Trace(
    linked=[{"text": "the Foundry", "concept": "foundry"}],
    seeds=[{"concept": "foundry", "weight": 0.75}],
    paths={
        "p1": [Step("name", "foundry", "Foundry"), Step("passage", "p1", "Title 1")],
        "p2": [
            Step("name", "foundry", "Foundry"),
            Step("passage", "p1", "Title 1"),
            Step("name", "ada", "Ada"),
            Step("passage", "p2", "Title 2"),
        ],
    },
    walked="whole graph",
    passages_walked=1234,
)


class FakeMemory:
    """Set the class attributes of a fresh subclass (fixture `fake`); `calls` keeps what was asked of it."""

    calls: list[tuple[str, tuple, dict]]
    raises: BaseException | None = None
    report = LoadReport(DocumentCounts(new=2, unchanged=1), {"Passage": 5, "Concept": -1}, [], {"total": 1.25})
    passages = (passage(1), passage(2))
    state = Status("/m", "fake", "1.0", {"Document": 3}, {"PART_OF": 12345}, [], 1, "mini", 384, "2026-01-01T00:00:00+00:00", 7, True)
    findings = (Finding("engine", True, "fine"), Finding("embedder", True, "fine"))
    forgotten = Forgotten(["/far/1.md"], [])
    table = Table(["name", "n"], [{"name": "Ada", "n": 1}, {"name": None, "n": 2}])

    def _called(self, name: str, *args: object, **kwargs: object) -> None:
        self.calls.append((name, args, kwargs))
        if self.raises is not None:
            raise self.raises

    @classmethod
    def open(cls, url=None, *, settings=None):
        cls.calls.append(("open", (url,), {"memory": settings.memory}))
        return cls()

    def close(self):
        self.calls.append(("close", (), {}))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def load(self, *paths, extractor="rules", replace=False, dry_run=False, stdin=None, progress=None):
        text = stdin.read() if stdin is not None else None
        self._called("load", *paths, extractor=extractor, replace=replace, dry_run=dry_run, stdin=text, progress=progress is not None)
        return self.report

    def ask(self, question, *, strategy="auto", plan=None, k=5, answer=True, trace=False):
        self._called("ask", question, strategy=strategy, k=k, answer=answer, trace=trace)
        if question == "bad":
            raise InputError("the question is bad")
        found = [] if question == "unknown" else list(self.passages[:k])
        return canned(question, found, trace=TRACE if trace else None)

    def warm(self):
        self._called("warm")

    def forget(self, *sources, everything=False):
        self._called("forget", *sources, everything=everything)
        return self.forgotten

    def status(self):
        self._called("status")
        return self.state

    def doctor(self, *, mend=False):
        self._called("doctor")
        return self.findings

    def cypher(self, query, *, write=False, **parameters):
        self._called("cypher", query, write=write, **parameters)
        return self.table


def install(monkeypatch) -> type[FakeMemory]:
    """A fresh fake in the place of `gsw_graph.memory.Memory`."""
    fake = type("Fake", (FakeMemory,), {"calls": []})
    module = ModuleType("gsw_graph.memory")
    module.Memory, module.Progress = fake, Progress  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gsw_graph.memory", module)
    return fake
