"""A memory with canned results, for tests of the command line: same surface as `gsw_graph.memory.Memory`, no engine and no model."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from types import ModuleType

from gsw_graph.ask.options import AskOptions
from gsw_graph.errors import InputError
from gsw_graph.explore.picture.drawing import of_answer
from gsw_graph.explore.picture.picture import Picture
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.results import (
    QA,
    Alias,
    Answer,
    AskedQuestion,
    Candidate,
    Chain,
    Citation,
    DocumentCounts,
    Documents,
    Fact,
    Finding,
    Forgotten,
    FoundEntity,
    FoundPhrase,
    History,
    Hop,
    HopTrace,
    LoadReport,
    Merged,
    MergeGroup,
    Progress,
    RankedPassage,
    Shown,
    Status,
    Step,
    StoredDocument,
    Suspicion,
    Table,
    Trace,
    Unmerged,
    UsedPair,
    UsedPassage,
    WholePassage,
)


def passage(n, **changes):
    plain = {
        "id": f"p{n}",
        "title": f"Title {n}",
        "text": f"Text {n}. " * 60,
        "source": f"/far/{n}.md",
        "document": f"d{n}",
        "score": 1 / n,
    }
    return RankedPassage(**(plain | changes))  # type: ignore[arg-type]


def canned(question, passages, *, trace=None):
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
    walked="neighbourhood",
    passages_walked=1234,
)


def hop(step, question, concrete, answer, score=0.9):
    return Hop(
        step,
        question,
        concrete,
        answer,
        QA(f"q{step}", concrete, [answer]),
        f"p{step}",
        score,
        ["vector", "name"],
    )


# Where was the founder of the foundry born?
BORN = Chain(
    0.8,
    [
        hop(1, "Who founded the foundry?", "Who founded the foundry?", "Ada"),
        hop(2, "Where was #1 born?", "Where was Ada born?", "Skarholm", 0.75),
    ],
)
ASKED = [
    HopTrace(
        1,
        "Who founded the foundry?",
        False,
        [Candidate(QA("q1", "Who founded the foundry?", ["Ada"]), ["vector", "name"], 0.9, "kept")],
    ),
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


DOCUMENT = StoredDocument(
    "d1", "/far/1.md", "Foundry", "markdown", "llm", "small", "ready", "2026-01-02T03:04:05+00:00", 2, [1]
)
PAIR = QA("q1", "Who founded the foundry?", ["Ada"])
SHOWN = Shown(
    DOCUMENT,
    [
        WholePassage(
            "p1",
            0,
            "Foundry",
            "Ada founded it\nin 1871.",
            ["ada"],
            [
                FoundEntity("e1", "Foundry", True, {}, None, None),
                FoundEntity("e2", "1871", False, {"date": ["of founding"]}, "1871-01-01", "1871-12-31"),
            ],
            [FoundPhrase("v1", "was founded by", [PAIR])],
            [Fact("f1", "Ada founded the foundry.", "p1")],
        )
    ],
)
QUESTION = AskedQuestion(
    "abc123",
    "Who founded it?",
    "Ada",
    "llm",
    False,
    0.75,
    "ricr",
    "small",
    "2026-01-02T03:04:05.000006+00:00",
    1.5,
    [{"id": 1, "question": "Who founded the foundry?"}],
    {"in": 1200, "out": 30},
    0.02,
    [UsedPassage("p1", "Foundry", "Ada founded it.", "/far/1.md", 1, True)],
    [UsedPair(PAIR, 1, 1)],
)


def chained(question, **changes):
    """An answer along a plan of two steps."""
    plain = {
        "strategy": "ricr",
        "answer": "Skarholm",
        "answer_source": "chain",
        "confidence": 0.75,
        "citations": [
            Citation("p1", "d1", "Title 1", "/far/1.md", "Ada founded it."),
            Citation("p2", "d2", "Title 2", "/far/2.md", "She is from Skarholm."),
        ],
        "chains": [BORN],
        "plan": [
            {"id": 1, "question": "Who founded the foundry?"},
            {"id": 2, "question": "Where was #1 born?"},
        ],
    }
    return replace(canned(question, [passage(1)]), **(plain | changes))  # type: ignore[arg-type]


class FakeMemory:
    """Set the class attributes of a fresh subclass (fixture `fake`); `calls` keeps what was asked of it."""

    calls: list[tuple[str, tuple, dict]]
    raises: BaseException | None = None
    report = LoadReport(
        DocumentCounts(new=2, unchanged=1), {"Passage": 5, "Concept": -1}, [], {"total": 1.25}
    )
    passages = (passage(1), passage(2))
    loaded_embedder = None
    state = Status(
        "/m",
        "fake",
        "1.0",
        {"Document": 3},
        {"PART_OF": 12345},
        [],
        1,
        "mini",
        384,
        "2026-01-01T00:00:00+00:00",
        7,
        True,
    )
    findings = (Finding("engine", True, "fine"), Finding("embedder", True, "fine"))
    forgotten = Forgotten(["/far/1.md"], [])
    merges = Merged(
        None,
        [
            MergeGroup(
                "world tide office",
                "World Tide Office",
                3,
                [
                    Alias(
                        "wto", "WTO", 2, 0.97, "abbreviation stated: World Tide Office (WTO)", run="3f9a01c2"
                    )
                ],
            )
        ],
        [
            Suspicion(
                ["stone pier", "stone-pier"],
                ["Stone Pier", "Stone-Pier"],
                0.7,
                "the same letters; but each is a title",
            )
        ],
    )
    along_plan: Answer = chained("q")
    stored = Documents(7, [DOCUMENT])
    shown = SHOWN
    kept = QUESTION
    questions = History(3, {"in": 2400, "out": 60}, 0.04, [QUESTION])
    table = Table(["name", "n"], [{"name": "Ada", "n": 1}, {"name": None, "n": 2}])

    def _called(self, name, *args, **kwargs):
        self.calls.append((name, args, kwargs))
        if self.raises is not None:
            raise self.raises

    @classmethod
    def open(cls, url=None, *, settings=None, create=True, models=(), tracer=None):
        given = {
            "memory": settings.memory,
            "llm": settings.llm,
            "concurrency": settings.concurrency,
            "models": tuple(models),
        }
        cls.calls.append(("open", (url,), given))
        opened = cls()
        opened.settings = settings
        opened.tracer = tracer
        return opened

    def close(self):
        self.calls.append(("close", (), {}))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def load(
        self, *paths, stdin=None, uploads=None, progress=None, cancel=None, allow_private=False, **options
    ):
        text = stdin.read() if stdin is not None else None
        self._called(
            "load", *paths, **asdict(LoadOptions(**options)), stdin=text, progress=progress is not None
        )
        return self.report

    def ask(self, question, *, on_text=None, on_stage=None, cancel=None, **options):
        given = AskOptions(**options)
        kept = ("strategy", "plan", "k", "answer", "trace", "llm", "keep", "budget", "question_cache")
        self._called("ask", question, **{name: getattr(given, name) for name in kept})
        if given.plan is not None:
            return replace(
                self.along_plan, question=question, trace=Trace(hops=ASKED) if given.trace else None
            )
        if question == "bad":
            raise InputError("the question is bad")
        found = [] if question == "unknown" else list(self.passages[: given.k])
        return canned(question, found, trace=TRACE if given.trace else None)

    def warm(self, *, cancel=None):
        self._called("warm")

    def forget(self, *sources, everything=False, gone=False, dry_run=False, folder=""):
        self._called("forget", *sources, everything=everything)
        return self.forgotten

    def merge(self, *, dry_run=False, near=0.0, at_most=0):
        self._called("merge", dry_run=dry_run, near=near, at_most=at_most)
        if dry_run:
            return self.merges
        return replace(self.merges, run="3f9a01c2")

    def merged(self, name=""):
        self._called("merged", name)
        return replace(self.merges, suspicious=[])

    def unmerge(self, target):
        self._called("unmerge", target)
        return Unmerged(["World Tide Office"], ["WTO"])

    def status(self):
        self._called("status")
        return self.state

    def memories(self):
        return self.stored

    def documents(
        self, text="", *, extractor=None, loader=None, unfinished=False, skip=0, limit=None, folder=""
    ):
        self._called(
            "documents", text, extractor=extractor, loader=loader, unfinished=unfinished, limit=limit
        )
        return Documents(self.stored.total, self.stored.documents[:limit])

    def show(self, name, passage=None, *, folder=""):
        self._called("show", name, passage)
        return self.shown

    def history(self, text="", *, skip=0, limit=None):
        self._called("history", text, limit=limit)
        return self.questions

    def question(self, which):
        self._called("question", which)
        return self.kept

    def confirm(self, which):
        self._called("confirm", which)
        return replace(self.kept, verdict="confirmed")

    def reject(self, which):
        self._called("reject", which)
        return replace(self.kept, verdict="rejected")

    def doctor(self, *, mend=False, deep=False):
        self._called("doctor", mend=mend, deep=deep)
        return self.findings

    def cypher(self, query, *, write=False, timeout=None, cancel=None, **parameters):
        type(self).timeout = timeout
        self._called("cypher", query, write=write, **parameters)
        return self.table

    def ask_cypher(self, question, *, timeout=None, cancel=None):
        type(self).timeout = timeout
        self._called("ask_cypher", question)
        return self.table

    def draw(self, what, /, *, timeout=None, **parameters):
        type(self).timeout = timeout
        self._called("draw", what if isinstance(what, str) else what.question, **parameters)
        if not isinstance(what, str):
            return of_answer(what, lambda ids: [])
        picture = Picture(what)
        picture.node("a", "Concept", "Ada")
        picture.node("b", "Passage", "Title 1")
        picture.edge("a", "b", "in")
        picture.notes.append("Some are left out.")
        return picture

    def explore(self, name, /, *, timeout=None, **parameters):
        type(self).timeout = timeout
        self._called("explore", name, **parameters)
        return self.table


def install(monkeypatch):
    """A fresh fake in the place of `gsw_graph.memory.Memory`."""
    fake = type("Fake", (FakeMemory,), {"calls": []})
    module = ModuleType("gsw_graph.memory")
    module.Memory = fake
    module.Progress = Progress  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gsw_graph.memory", module)
    return fake
