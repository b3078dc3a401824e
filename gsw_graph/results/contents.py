"""What a memory holds, as people look at it: documents, one whole, questions that were asked,
tables of queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.results.answers import QA, Fact, RankedPassage
from gsw_graph.results.result import Result, frame

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Status(Result):
    """What a memory holds. `nodes` and `relationships` count by label and type, `extractors` documents by
    what read them, with its model where it has one. `unread` has the numbers, from 1, of passages that no
    language model could read, by the source of their document. `questions`: how many were `kept`,
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
class StoredDocument(Result):
    """A document of the memory. status: `ready`, or `loading` or `renewing` where its load was cut off.
    `passages`: how many; `unread`: the numbers, from 1, of those that its language model could not read."""

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


@dataclass(frozen=True)
class Documents(Result):
    """Documents by source; `total` counts those that fit, also where fewer were asked for."""

    total: int
    documents: list[StoredDocument]


@dataclass(frozen=True)
class FoundEntity(Result):
    """A name found in a passage; `title`: it is the passage's title. `roles`: the states of each role. A
    date has `from_` and `to`, ISO days."""

    id: str
    name: str
    title: bool
    roles: dict[str, list[str]]
    from_: str | None
    to: str | None


@dataclass(frozen=True)
class FoundPhrase(Result):
    """What happens or holds in a passage, and the question-answer pairs about it."""

    id: str
    phrase: str
    pairs: list[QA]


@dataclass(frozen=True)
class WholePassage(Result):
    """A passage with all that was found in it. position: counted from 0. `names`: those that rules found,
    where its entities come from elsewhere."""

    id: str
    position: int
    title: str
    text: str
    names: list[str]
    entities: list[FoundEntity]
    phrases: list[FoundPhrase]
    propositions: list[Fact]


@dataclass(frozen=True)
class Shown(Result):
    """A document and its passages, or the one that was asked for."""

    document: StoredDocument
    passages: list[WholePassage]


@dataclass(frozen=True)
class StoredName(Result):
    """A name of the memory: the id of its concept, how it is shown, and in how many passages it stands."""

    id: str
    name: str
    passages: int


@dataclass(frozen=True)
class FollowedName(Result):
    """A name over all documents. `roles` it plays with their states, `pairs` about it or with it as their
    answer, `facts` that mention it, `places`: passages that it stands in, `beside`: names that stand in most
    of these."""

    id: str
    name: str
    passages: int
    roles: dict[str, list[str]]
    pairs: list[QA]
    facts: list[Fact]
    places: list[RankedPassage]
    beside: list[StoredName]


@dataclass(frozen=True)
class UsedPassage(Result):
    """A passage that an answer used; `rank` counts from 1."""

    id: str
    title: str
    text: str
    source: str
    rank: int
    cited: bool


@dataclass(frozen=True)
class UsedPair(Result):
    """A pair of a chain of an answer: its place in the best chain that holds it, and that chain's; both
    count from 1."""

    qa: QA
    hop: int
    rank: int


@dataclass(frozen=True)
class AskedQuestion(Result):
    """A question that was asked, as it is kept: its answer, what that took (`seconds`, `tokens`, `dollars`)
    and when (`asked_at`, ISO, UTC).

    `passages` and `pairs`: what the answer used and is still there; only where one question is asked for.
    `verdict`: "confirmed" or "rejected", where people said so (`judged_at`). `past`: id of the earlier
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
    plan: list[dict[str, Any]] | None
    tokens: dict[str, int]  # "in", "out"
    dollars: float | None
    passages: list[UsedPassage] = field(default_factory=list)
    pairs: list[UsedPair] = field(default_factory=list)
    verdict: str | None = None
    judged_at: str | None = None
    past: str | None = None


@dataclass(frozen=True)
class History(Result):
    """Questions that were asked, the latest first. `total`, `tokens` and `dollars` (None where nothing has a
    price) are of all that fit, also where fewer were asked for."""

    total: int
    tokens: dict[str, int]
    dollars: float | None
    questions: list[AskedQuestion]


@dataclass(frozen=True)
class Table(Result):
    """The result of a Cypher query: `columns` in their order, `rows` as {column: value} in JSON types."""

    columns: list[str]
    rows: list[dict[str, Any]]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from gsw_graph.notebook import html_table

        return html_table(self)

    def to_pandas(self) -> Any:
        """The table as a DataFrame. Raises InputError without pandas."""
        return frame(self.rows, self.columns)
