"""What `Memory` gives back. Attributes carry the names of the JSON that the command line prints; `to_dict()` is that JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.model import Failure

if TYPE_CHECKING:
    from gsw_graph.inference.ledger import Entry


class Result:
    """A result that can say itself in JSON types."""

    def to_dict(self) -> dict[str, Any]:
        """This result as JSON types, keys in their documented order."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents a load found in which state."""

    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Estimate(Result):
    """What a load by a language model would take: calls to make, replies that are kept or ordered by a batch, tokens, dollars where the price is known."""

    model: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None


@dataclass(frozen=True)
class LoadReport(Result):
    """What a load did. `nodes` counts what it wrote, by label; `seconds` has read, extract, embed, write, index and total, which overlap.

    With a language model: `faults` are things of its replies that were left out, `tokens`, `calls`, `cached` and `dollars` what it took together, `ledger` the
    same by document, stage and model. `estimate`: what a dry run expects. `note`: what may have been meant and was not done.
    """

    documents: DocumentCounts
    nodes: dict[str, int]
    failures: list[Failure]
    seconds: dict[str, float]
    tokens: dict[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    calls: int = 0
    cached: int = 0
    dollars: float | None = None
    faults: list[Failure] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    estimate: Estimate | None = None
    note: str | None = None


@dataclass(frozen=True)
class RankedPassage(Result):
    """A passage of an answer; `score` is comparable within one answer only."""

    id: str
    title: str
    text: str
    source: str
    document: str
    score: float


@dataclass(frozen=True)
class Citation(Result):
    """Where a statement comes from."""

    passage: str
    document: str
    title: str
    source: str
    text: str


@dataclass(frozen=True)
class QA(Result):
    """A question-answer pair of the graph."""

    id: str
    question: str
    answers: list[str]


@dataclass(frozen=True)
class Hop(Result):
    """One hop of a chain: the sub-question, the question it became with the answers before it, the pair that answers it and its passage's id."""

    step: int
    question: str
    concrete_question: str
    answer: str
    qa: QA
    passage: str
    score: float
    via: list[str]  # "vector", "words", "name"


@dataclass(frozen=True)
class Chain(Result):
    """Hops from a first sub-question to a last, and their score together, in [0, 1]."""

    score: float
    hops: list[Hop]


@dataclass(frozen=True)
class Step(Result):
    """A step of a path: a `name` (its `id` is the concept's) or a `passage`."""

    kind: str
    id: str
    label: str


@dataclass(frozen=True)
class Candidate(Result):
    """A pair that was considered at a hop: the ways it came, its score, and what became of it."""

    qa: QA
    via: list[str]
    score: float
    fate: str  # "kept", or why not


@dataclass(frozen=True)
class HopTrace(Result):
    """A concrete question of a hop with its candidates, best first. `fallback`: nothing was found, so the original question was asked instead."""

    step: int
    concrete_question: str
    fallback: bool
    candidates: list[Candidate]


@dataclass(frozen=True)
class Fact(Result):
    """A proposition of the graph, and its passage's id."""

    id: str
    text: str
    passage: str


@dataclass(frozen=True)
class FactPath(Result):
    """Propositions, each joined to the one before by a name, a similar name or a jump; `score`: cosine of their mean with the question."""

    score: float
    propositions: list[Fact]


@dataclass
class Trace(Result):
    """How an answer came about; written by the strategy.

    Of `linked`: names of the question that the memory knows, the seeds of the walk with their weights, for each passage the strongest path. Of `fusion`
    without a plan these are of the second walk, and `bridges` what the first found for it. Of PropRAG: these of the last walk, and the paths it started from.
    Of `ricr` and of `fusion` with a plan: what was asked hop by hop.
    """

    linked: list[dict[str, str]] = field(default_factory=list)  # {"text": as asked, "concept": id}
    seeds: list[dict[str, Any]] = field(default_factory=list)  # {"concept": id, "weight": share}
    paths: dict[str, list[Step]] = field(default_factory=dict)  # by passage id
    walked: str | None = None  # "whole graph", "neighbourhood", "neighbourhood by query", "twice" or "propositions"
    passages_walked: int = 0
    bridges: list[str] = field(default_factory=list)
    fact_paths: list[FactPath] = field(default_factory=list)
    asked: list[HopTrace] = field(default_factory=list)


@dataclass(frozen=True)
class KeptReply(Result):
    """A reply of the language model that was there already, with what it took when it was asked for. stage: "plan", "answer" or a strategy's own; dollars at
    today's price."""

    stage: str
    tokens: dict[str, int]  # "in", "out"
    seconds: float
    dollars: float | None


@dataclass(frozen=True)
class Answer(Result):
    """What `ask` found. `answer` is None where no strategy that answers was used; `abstained` says that the memory does not hold the answer.

    `confidence` is the calibrated chance that the memory holds it, also where that is too small to answer; None where no chains were looked for. `missing`:
    what the language model says the evidence lacks, or what the memory lacks as a whole. `strategy`: the one that ran. `plan_source`: "given" or "llm"; `note`
    says why the language model gave no plan, no answer, or nothing else that a strategy asked it for.
    `tokens`: `in` and `out` as the server counted them; `evidence` and `prompt` of the answer, as sent. `kept`: replies that were there already; what they took
    once is not in `tokens`, `seconds` and `dollars`. `id` of the Question node that keeps it, or None.
    """

    question: str
    strategy: str
    answer: str | None
    answer_source: str  # "llm", "chain" or "none"
    abstained: bool
    confidence: float | None
    citations: list[Citation]
    passages: list[RankedPassage]
    chains: list[Chain]
    plan: list[dict[str, Any]] | None
    round_trips: int
    seconds: dict[str, float]
    tokens: dict[str, int]
    models: dict[str, str | None]
    trace: Trace | None = None
    missing: str | None = None
    plan_source: str | None = None
    note: str | None = None
    dollars: float | None = None
    kept: list[KeptReply] = field(default_factory=list)
    id: str | None = None

    def __iter__(self) -> Iterator[RankedPassage]:
        """The passages, best first."""
        return iter(self.passages)


@dataclass(frozen=True)
class Status(Result):
    """What a memory holds. `nodes` and `relationships` count by label and type, `extractors` documents by what read them, with its model where it has one.

    `schema` and the rest are None before the first load.
    """

    memory: str
    engine: str
    engine_version: str
    nodes: dict[str, int]
    relationships: dict[str, int]
    unfinished: list[str]  # sources of documents whose load was cut off
    schema: int | None = None
    embedder: str | None = None
    dimension: int | None = None
    created: str | None = None
    version: int | None = None
    indexed: bool | None = None
    extractors: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding(Result):
    """One thing that `doctor` looked at; `mend` is the line that mends it."""

    check: str
    ok: bool
    found: str
    mend: str | None = None


@dataclass(frozen=True)
class Forgotten(Result):
    """What `forget` removed: sources of documents, and names it was given that the memory does not know."""

    forgotten: list[str]
    unknown: list[str]


@dataclass(frozen=True)
class Exported(Result):
    """What `export` wrote: how many documents and files, and where."""

    documents: int
    files: int
    folder: str


@dataclass(frozen=True)
class Table(Result):
    """The result of a Cypher query: `columns` in their order, `rows` as {column: value} in JSON types."""

    columns: list[str]
    rows: list[dict[str, Any]]
