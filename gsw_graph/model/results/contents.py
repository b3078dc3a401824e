"""Hold the contents of a memory and the results of changes: documents, questions, loads, merges, upkeep,
analyses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gsw_graph.model.documents import Failure, Value
from gsw_graph.model.ledger import Entry
from gsw_graph.model.results.answers import QA, Fact, PassageText, RankedPassage, Result
from gsw_graph.model.results.forms import as_html
from gsw_graph.values import Fields


@dataclass(frozen=True)
class Status(Result):
    """Hold the counts of a memory. `nodes` and `relationships` count by label and type, `extractors` counts
    documents by extractor, with its model if it has one. `unread` has the numbers, from 1, of passages that
    no language model could read, by the source of their document. `questions`: how many were `kept`,
    `confirmed`, `rejected` and, answered from an earlier one, `reused`.

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
    unread: dict[str, list[int]] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredMemory(Result):
    """Hold a memory of a database; the default memory has an empty name."""

    name: str
    embedder: str
    created: str
    documents: int
    passages: int


@dataclass(frozen=True)
class StoredDocument(Result):
    """Hold a document of the memory. status: `ready`, or `loading` or `renewing` if its load was cut off.
    `passages`: their number. `unread`: numbers, from 1, of the passages that the language model could not
    read. `superseded`: number of further passages that others supersede. `meta`: its metadata. `about`: the
    date of its subject. `file`: file of a record."""

    id: str
    source: str
    title: str
    loader: str
    extractor: str
    model: str | None
    status: str
    loaded_at: str
    passages: int
    unread: list[int]
    meta: dict[str, Value] = field(default_factory=dict)
    about: str | None = None
    superseded: int = 0
    file: str | None = None


@dataclass(frozen=True)
class Documents(Result):
    """Hold documents by source. `total` counts all documents that fit, even if fewer were asked for."""

    total: int
    documents: list[StoredDocument]


@dataclass(frozen=True)
class FoundEntity(Result):
    """Hold a name of a passage. `title`: whether it is the passage's title. `roles`: the states of each role.
    A date has `from_` and `to`, ISO days."""

    id: str
    name: str
    title: bool
    roles: dict[str, list[str]]
    from_: str | None
    to: str | None


@dataclass(frozen=True)
class FoundPhrase(Result):
    """Hold a verb phrase of a passage, and the question-answer pairs about it."""

    id: str
    phrase: str
    pairs: list[QA]


@dataclass(frozen=True)
class WholePassage(Result):
    """Hold a passage with everything that was extracted from it. position: Counted from 0. `names`: names
    that rules found, if its entities come from elsewhere."""

    id: str
    position: int
    title: str
    text: str
    names: list[str]
    entities: list[FoundEntity]
    phrases: list[FoundPhrase]
    propositions: list[Fact]
    section: str | None = None


@dataclass(frozen=True)
class Shown(Result):
    """Hold a document and its passages, or the single passage that was asked for."""

    document: StoredDocument
    passages: list[WholePassage]


@dataclass(frozen=True)
class StoredName(Result):
    """Hold a name of the memory: the id of its concept, its display form, and the number of its passages."""

    id: str
    name: str
    passages: int


@dataclass(frozen=True)
class FollowedName(StoredName):
    """Hold a name over all documents: `roles` with their states, `pairs` about the name or with it as answer,
    `facts` that mention it, `places`, the passages with it, and `beside`, names in most of these passages."""

    roles: dict[str, list[str]]
    pairs: list[QA]
    facts: list[Fact]
    places: list[RankedPassage]
    beside: list[StoredName]


@dataclass(frozen=True)
class UsedPassage(PassageText):
    """Hold a passage that an answer used; `rank` counts from 1."""

    rank: int
    cited: bool


@dataclass(frozen=True)
class UsedPair(Result):
    """Hold a pair that an answer used: its place in its best chain, and the rank of that chain, both from
    1."""

    qa: QA
    hop: int
    rank: int


@dataclass(frozen=True)
class AskedQuestion(Result):
    """A question that was asked, as it is kept: its answer, what that took (`seconds`, `tokens`, `dollars`)
    and when (`asked_at`, ISO, UTC).

    `passages` and `pairs`: what the answer used and is still there; only where one question is asked for.
    `verdict`: "confirmed" or "rejected", where people said so (`judged_at`). `cached_from`: id of the earlier
    question that it was answered from.
    """

    id: str
    question: str
    answer: str | None
    answer_source: str
    abstained: bool
    confidence: float | None
    strategy: str
    model: str | None
    asked_at: str
    seconds: float
    plan: list[Fields] | None
    tokens: dict[str, int]  # "in", "out"
    dollars: float | None
    passages: list[UsedPassage] = field(default_factory=list)
    pairs: list[UsedPair] = field(default_factory=list)
    verdict: str | None = None
    judged_at: str | None = None
    cached_from: str | None = None


@dataclass(frozen=True)
class History(Result):
    """Hold stored questions, the latest first. `total`, `tokens` and `dollars` (None without any price) are
    of all questions that fit, even if fewer were asked for."""

    total: int
    tokens: dict[str, int]
    dollars: float | None
    questions: list[AskedQuestion]


@dataclass(frozen=True)
class Table(Result):
    """Hold the result of a Cypher query: `columns` in order, `rows` as {column: value} in JSON types."""

    columns: list[str]
    rows: list[Fields]

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows."""
        return as_html(self)


@dataclass(frozen=True)
class AskedTable(Table):
    """Hold the result of a statement that a language model wrote. evidence: Ids of the passages behind each
    row. cut: Whether there are more rows."""

    statement: str
    parameters: Fields
    evidence: list[list[str]]
    cut: bool


@dataclass(frozen=True)
class Parameter(Result):
    """Hold a parameter of an analysis, with its `description` and its `default`."""

    name: str
    default: Any
    description: str


@dataclass(frozen=True)
class Analysis(Result):
    """Hold a query of `cypher/explore/`. `summary` is a line about it, `details` the rest. `query` runs
    unchanged, with its defaults."""

    name: str
    summary: str
    details: str
    parameters: list[Parameter]
    query: str


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Hold the numbers of documents in a load, by state. `described`: unchanged documents with other
    metadata."""

    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    failed: int = 0
    described: int = 0


@dataclass(frozen=True)
class Estimate(Result):
    """Hold the expected cost of a load by a language model: calls to make, replies that are cached or ordered
    by a batch, tokens, and dollars if the price is known."""

    model: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Hold the progress of a load.

    Attributes:
        documents: Number of documents that are embedded whole.
        passages: Number of embedded passages.
        total: Passages to load, None if not known yet.
        stage: `loading`, `indexing` or `waiting` (for a batch).
        failed: Documents and passages that failed.
        problem: Reason of the last failure.
        written: Passages in the memory.
        answered: Passages that the language model has finished; None without a model.
        replies: Replies of the model, repairs and second tries too.
        failed_calls: Failed calls of the model.
    """

    documents: int
    passages: int
    total: int | None
    stage: str
    failed: int = 0
    problem: str | None = None
    written: int | None = None
    answered: int | None = None
    replies: int = 0
    failed_calls: int = 0


@dataclass(frozen=True)
class LoadReport(Result):
    """Hold the result of a load. `nodes` counts written nodes by label; `seconds` has read, extract, embed,
    write, index and total, which overlap.

    `skipped`: what holds nothing to load (pictures, archives, empty files) or was left out (links out of a
    folder), which is no failure.
    With a language model: `faults` are things of its replies that were left out; `tokens`, `calls`
    (`failed_calls` of them gave no reply
    that can be used), `cached` and `dollars` what it took together, `ledger` the same by document, stage and
    model. `estimate`: what a dry
    run expects. `left_out`: what was left out of documents that were loaded, counted by kind (comments,
    pictures); `skipped` says it by document. `note`: what may have been meant and was not done. `forgotten`:
    sources that `load --forget-gone` found gone.
    """

    documents: DocumentCounts
    nodes: dict[str, int]
    failures: list[Failure]
    seconds: dict[str, float]
    tokens: dict[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    calls: int = 0
    failed_calls: int = 0
    cached: int = 0
    dollars: float | None = None
    faults: list[Failure] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    estimate: Estimate | None = None
    note: str | None = None
    skipped: list[Failure] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for skipped in self.skipped if not self.left_out else ():
            for kind, number in getattr(skipped, "kinds", ()) if skipped.part else ():
                self.left_out[kind] = self.left_out.get(kind, 0) + number


@dataclass(frozen=True)
class Alias(StoredName):
    """Hold a concept that is joined to a canonical concept.

    Attributes:
        reason: Reason in words.
        score: Confidence in [0, 1].
        method: `rules`.
        run, at: Id and time (ISO, UTC) of the merge; None if nothing was written.
    """

    score: float
    reason: str
    method: str = "rules"
    run: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class MergeGroup(StoredName):
    """Hold a canonical concept with its aliases; `passages` are its own."""

    aliases: list[Alias]


@dataclass(frozen=True)
class Suspicion(Result):
    """Two concepts that may be the same, and are not merged."""

    ids: list[str]
    names: list[str]
    score: float
    reason: str


@dataclass(frozen=True)
class Merged(Result):
    """Hold groups that `merge` joined, would join (`run` is None) or has joined before. `suspicious`: pairs
    that are not sure enough."""

    run: str | None
    groups: list[MergeGroup]
    suspicious: list[Suspicion] = field(default_factory=list)


@dataclass(frozen=True)
class Unmerged(Result):
    """Hold the concepts that `unmerge` separated: canonical concepts and aliases by name."""

    groups: list[str]
    aliases: list[str]


@dataclass(frozen=True)
class Correction(Result):
    """What a person corrected: `action` (rename, split, remove, supersede or add) on a `target`, the id of a
    concept, a fact or a passage, or the source of what was added; `value`: the new name, the passage that
    supersedes it, or the text. `texts`: those of both passages, as they were; `lapsed`: the first is in its
    document no more, so that nothing is superseded."""

    id: str
    action: str
    target: str
    value: str
    by: str
    at: str
    texts: list[str] = field(default_factory=list)
    lapsed: bool = False


@dataclass(frozen=True)
class Finding(Result):
    """Hold a finding of `doctor`; `mend` is the command that repairs it."""

    check: str
    ok: bool
    result: str
    mend: str | None = None


@dataclass(frozen=True)
class Forgotten(Result):
    """What `forget` removed: sources of documents, and names it was given that the memory does not know;
    `questions`: how many whose answers cited these documents; `folders`: how many documents are below an
    unknown name, which is a folder once a slash ends it."""

    forgotten: list[str]
    unknown: list[str]
    questions: int = 0
    folders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunsReport(Result):
    """Hold the result of `runs build`: passages that were read, runs that were written, and seconds."""

    passages: int
    runs: int
    seconds: float


@dataclass(frozen=True)
class Copied(Result):
    """Hold the numbers of nodes and relationships that a dump, a restore or a copy wrote, by kind."""

    source: str
    target: str
    nodes: dict[str, int]
    relationships: dict[str, int]
    seconds: float
