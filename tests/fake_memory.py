"""A memory with canned results, for tests of the command line: same surface as `gsw_graph.memory.Memory`, no engine and no model."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

from gsw_graph.errors import InputError
from gsw_graph.pipeline import Progress
from gsw_graph.results import (
    QA,
    Answer,
    Candidate,
    Chain,
    Citation,
    DocumentCounts,
    Exported,
    Finding,
    Forgotten,
    Hop,
    HopTrace,
    LoadReport,
    RankedPassage,
    Status,
    Step,
    Table,
    Trace,
)


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
        citations=[],
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


def hop(step: int, question: str, concrete: str, answer: str, score: float = 0.9) -> Hop:
    return Hop(step, question, concrete, answer, QA(f"q{step}", concrete, [answer]), f"p{step}", score, ["vector", "name"])


# Where was the founder of the foundry born?
BORN = Chain(0.8, [hop(1, "Who founded the foundry?", "Who founded the foundry?", "Ada"), hop(2, "Where was #1 born?", "Where was Ada born?", "Skarholm", 0.75)])
ASKED = [
    HopTrace(1, "Who founded the foundry?", False, [Candidate(QA("q1", "Who founded the foundry?", ["Ada"]), ["vector", "name"], 0.9, "kept")]),
    HopTrace(
        2,
        "Where was Ada born?",
        False,
        [
            Candidate(QA("q2", "Where was Ada born?", ["Skarholm"]), ["vector"], 0.75, "kept"),
            Candidate(QA("q3", "Why was Ada born?", []), ["words"], 0.5, "has no answer"),
        ],
    ),
]


def chained(question: str, **changes: object) -> Answer:
    """An answer along a plan of two steps."""
    plain = {
        "strategy": "ricr",
        "answer": "Skarholm",
        "answer_source": "chain",
        "confidence": 0.75,
        "citations": [Citation("p1", "d1", "Title 1", "/far/1.md", "Ada founded it."), Citation("p2", "d2", "Title 2", "/far/2.md", "She is from Skarholm.")],
        "chains": [BORN],
        "plan": [{"id": 1, "question": "Who founded the foundry?"}, {"id": 2, "question": "Where was #1 born?"}],
    }
    return replace(canned(question, [passage(1)]), **(plain | changes))  # type: ignore[arg-type]


class FakeMemory:
    """Set the class attributes of a fresh subclass (fixture `fake`); `calls` keeps what was asked of it."""

    calls: list[tuple[str, tuple, dict]]
    raises: BaseException | None = None
    report = LoadReport(DocumentCounts(new=2, unchanged=1), {"Passage": 5, "Concept": -1}, [], {"total": 1.25})
    passages = (passage(1), passage(2))
    state = Status("/m", "fake", "1.0", {"Document": 3}, {"PART_OF": 12345}, [], 1, "mini", 384, "2026-01-01T00:00:00+00:00", 7, True)
    findings = (Finding("engine", True, "fine"), Finding("embedder", True, "fine"))
    forgotten = Forgotten(["/far/1.md"], [])
    exported = Exported(3, 7, "/far/out")
    along_plan: Answer = chained("q")
    table = Table(["name", "n"], [{"name": "Ada", "n": 1}, {"name": None, "n": 2}])

    def _called(self, name: str, *args: object, **kwargs: object) -> None:
        self.calls.append((name, args, kwargs))
        if self.raises is not None:
            raise self.raises

    @classmethod
    def open(cls, url=None, *, settings=None, create=True, models=()):
        given = {"memory": settings.memory, "llm": settings.llm, "concurrency": settings.concurrency, "models": tuple(models)}
        cls.calls.append(("open", (url,), given))
        return cls()

    def close(self):
        self.calls.append(("close", (), {}))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def load(
        self,
        *paths,
        extractor="auto",
        replace=False,
        upgrade=False,
        second_pass=False,
        batch=False,
        dry_run=False,
        budget=None,
        stdin=None,
        progress=None,
    ):
        given = {"extractor": extractor, "replace": replace, "upgrade": upgrade, "second_pass": second_pass, "batch": batch, "dry_run": dry_run, "budget": budget}
        text = stdin.read() if stdin is not None else None
        self._called("load", *paths, **given, stdin=text, progress=progress is not None)
        return self.report

    def ask(self, question, *, strategy="auto", plan=None, k=5, answer=True, trace=False, llm=True, keep=True, on_text=None):
        self._called("ask", question, strategy=strategy, plan=plan, k=k, answer=answer, trace=trace, llm=llm, keep=keep)
        if plan is not None:
            return replace(self.along_plan, question=question, trace=Trace(asked=ASKED) if trace else None)
        if question == "bad":
            raise InputError("the question is bad")
        found = [] if question == "unknown" else list(self.passages[:k])
        return canned(question, found, trace=TRACE if trace else None)

    def warm(self):
        self._called("warm")

    def forget(self, *sources, everything=False):
        self._called("forget", *sources, everything=everything)
        return self.forgotten

    def export(self, folder):
        self._called("export", folder)
        return self.exported

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
