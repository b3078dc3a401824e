"""What a question found: passages, chains, the way to them, and the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.model.results.forms import as_html, as_text
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator


class Result:
    """A result that can be turned into JSON types."""

    def to_dict(self) -> Fields:
        """Return this result as JSON types, keys in their documented order."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class PassageText(Result):
    """A passage of the memory."""

    id: str
    title: str
    text: str
    source: str


@dataclass(frozen=True)
class RankedPassage(PassageText):
    """A passage of an answer; `score` is comparable within one answer only. `section`: title and headings
    that lead to it, in a long document; `speaker` and `at`: who said it and when, of a turn."""

    document: str
    score: float
    section: str | None = None
    speaker: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class Citation(Result):
    """Where a statement comes from; `section` as of a passage."""

    passage: str
    document: str
    title: str
    source: str
    text: str
    section: str | None = None


@dataclass(frozen=True)
class Claim(Result):
    """What some passages say where others say something else. confidence: their share of all that say
    anything."""

    answer: str
    passages: list[str]
    titles: list[str]
    confidence: float


@dataclass(frozen=True)
class Statement(Result):
    """A statement of an answer: a sentence, a step or a block of code.

    Attributes:
        text: As the answer has it, without marks of citations.
        citations: Places, from 0, in the citations of the answer; empty if nothing is cited.
        follows: The statement follows from what is cited, and is not stated there.
        unsupported: Names, numbers, dates and quoted code of the statement that are in no line of the
            evidence.
    """

    text: str
    citations: list[int] = field(default_factory=list)
    follows: bool = False
    unsupported: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Conflict(Result):
    """A question that passages answer differently, and what each says, the most supported first."""

    question: str
    claims: list[Claim]


@dataclass(frozen=True)
class QA(Result):
    """A question-answer pair of the graph."""

    id: str
    question: str
    answers: list[str]


@dataclass(frozen=True)
class Hop(Result):
    """One hop of a chain: the sub-question, the question it became with the answers before it, the pair
    that answers it and its passage's id."""

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
    """A concrete question of a hop with its candidates, best first. `fallback`: nothing was found, so the
    original question was asked instead."""

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
    """Propositions, each joined to the one before by a name, a similar name or a jump; `score`: cosine of
    their mean with the question."""

    score: float
    propositions: list[Fact]


@dataclass(frozen=True)
class RunEdge(Result):
    """An edge of a run: two names, how they are related, and the passage and the statement (a proposition or
    a pair, by id) that say so first. number: the same for the same three everywhere."""

    number: int
    subject: str
    relation: str
    object: str
    statement: str
    passage: str


@dataclass(frozen=True)
class FoundRun(Result):
    """A run that a question found, by what channel ("facts", "answers"), with its fine score and
    its edges in the order of the text."""

    id: str
    channel: str
    score: float
    edges: list[RunEdge]


@dataclass(frozen=True)
class AgentStep(Result):
    """A step of an agent. agent: who took it; stage: of the language model's prompt, or how it searched.
    task, outcome: in words. statements: of `cypher/`, by name, that ran; passages: ids of what they found.
    tokens: `in` and `out`, empty where no model was asked. failed: why nothing came of it, or None."""

    agent: str
    stage: str
    task: str
    outcome: str
    statements: list[str]
    passages: list[str]
    tokens: dict[str, int]
    seconds: float
    failed: str | None = None


@dataclass(frozen=True)
class Exchange(Result):
    """What a language model was asked, after the system message of its stage, and its reply as it came."""

    stage: str
    prompt: str
    reply: str


@dataclass
class Trace(Result):
    """How an answer came about; written by the strategy.

    Of `linked`: names of the question that the memory knows, the seeds of the first walk with their weights,
    for each passage the strongest path, of the second walk where the first did not reach it, and `bridges`,
    what the second starts from. Of `pruned`: these of its one walk, `bridges` from its best runs, and the
    runs. Of `fusion` without a plan these are of the second walk. Of PropRAG: these of the last walk, and the
    paths it started from. Of `ricr` and of `fusion` with a plan: the questions of each hop, `hops`.
    Of agents: their steps, in the order in which they ended. exchanges: with the language model.
    """

    linked: list[dict[str, str]] = field(default_factory=list)  # {"text": as asked, "concept": id}
    seeds: list[Fields] = field(default_factory=list)  # {"concept": id, "weight": share}
    paths: dict[str, list[Step]] = field(default_factory=dict)  # by passage id
    walked: str | None = None  # "neighbourhood", "twice" or "propositions"
    passages_walked: int = 0
    specificity: float | None = None  # how far the question's names distinguish passages, in [0, 1]
    reranker: str | None = None  # what scored pairs or passages with the question
    bridges: list[str] = field(default_factory=list)
    fact_paths: list[FactPath] = field(default_factory=list)
    runs: list[FoundRun] = field(default_factory=list)
    hops: list[HopTrace] = field(default_factory=list)
    steps: list[AgentStep] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)


@dataclass(frozen=True)
class KeptReply(Result):
    """A reply of the language model that was there already, with what it took when it was asked for. stage:
    "plan", "answer" or a strategy's own; dollars at today's price."""

    stage: str
    tokens: dict[str, int]  # "in", "out"
    seconds: float
    dollars: float | None


@dataclass(frozen=True)
class CachedAnswer(Result):
    """A question that was asked before (`asked_at`, ISO, UTC) and its answer, which another was answered
    from. `confirmed`: people said that it is right. `used`: its "answer", or the "evidence" that it cites,
    which a model read again."""

    id: str
    question: str
    answer: str
    confirmed: bool
    asked_at: str
    used: str


@dataclass(frozen=True)
class Answer(Result):
    """What `ask` found. `answer` is None where no strategy that answers was used; `abstained` says that the
    memory does not hold the answer.

    `confidence` is the calibrated chance that the memory holds it, from chains or from what a search found,
    also where that is too small to answer; None of a strategy that says nothing of it. `missing`: what the
    language model says the evidence lacks, or what the memory lacks as a whole. `strategy`: the one that ran;
    `why`: why, where it was not the one that was wanted. `plan_source`: "given" or "llm"; `note` says why the
    language model gave no plan, no answer, or nothing else that a strategy asked it for, or that a walk went
    on without the reranker.
    `tokens`: `in` and `out` as the server counted them, `plan` the part of both for planning; `evidence` and
    `prompt` of the answer, as sent.
    `answer` is short: a name, a number or a few words; `text` is the answer in full, with the numbers of its
    citations ([1][3]: the first and the third), and `statements` are its parts. Without a short answer, as of
    steps, `answer` is the text without numbers. A short answer is its own text. An answer with `missing` is
    partial. A stream shows the short answer, if there is one, an empty line, and the text.
    `question` is complete: `note` has it too if it was a follow-up question ("and when did she die?").
    `inferred`: the short answer follows from what is cited and is not said there.
    `conflicts`: where passages say different things, of a strategy that looks for that.
    `calls` of the language model, of which `failed_calls` gave no reply that can be used. `kept`: replies
    that were there already; what they took
    once is not in `tokens`, `seconds` and `dollars`. `id` of the Question node that keeps it, or None.
    `cached`: the earlier question of the question cache that it was answered from; an `answer_source` "cache"
    says that its answer was returned unchanged, "graph" that the answer is the rows of a statement over the
    graph.
    """

    question: str
    strategy: str
    answer: str | None
    answer_source: str  # "llm", "chain", "cache", "graph", "added" (by a person) or "none"
    abstained: bool
    confidence: float | None
    citations: list[Citation]
    passages: list[RankedPassage]
    chains: list[Chain]
    plan: list[Fields] | None
    round_trips: int
    seconds: dict[str, float]
    tokens: dict[str, int]
    models: dict[str, str | None]
    trace: Trace | None = None
    missing: str | None = None
    plan_source: str | None = None
    note: str | None = None
    dollars: float | None = None
    calls: int = 0
    failed_calls: int = 0
    kept: list[KeptReply] = field(default_factory=list)
    id: str | None = None
    conflicts: list[Conflict] = field(default_factory=list)
    inferred: bool = False
    why: str | None = None
    cached: CachedAnswer | None = None
    text: str | None = None
    statements: list[Statement] = field(default_factory=list)

    def __iter__(self) -> Iterator[RankedPassage]:
        """The passages, best first."""
        return iter(self.passages)

    def __str__(self) -> str:
        """The answer as people read it."""
        return as_text(self)

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows."""
        return as_html(self)
