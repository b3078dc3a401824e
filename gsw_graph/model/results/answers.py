"""Hold the results of a question: passages, chains, the trace, and the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.model.results.forms import as_html, as_text
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator


class Result:
    """Turn a result into JSON types."""

    def to_dict(self) -> Fields:
        """Return this result as JSON types, keys in their documented order."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class PassageText(Result):
    """Hold a passage of the memory."""

    id: str
    title: str
    text: str
    source: str


@dataclass(frozen=True)
class RankedPassage(PassageText):
    """Hold a passage of an answer. `score` is comparable within one answer only. `section`: title and
    headings that lead to the passage, in a long document. `speaker` and `at`: speaker and time of a turn."""

    document: str
    score: float
    section: str | None = None
    speaker: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class Citation(Result):
    """Hold the source of a statement; `section` as of a passage."""

    passage: str
    document: str
    title: str
    source: str
    text: str
    section: str | None = None


@dataclass(frozen=True)
class Claim(Result):
    """Hold what some passages say if others say something else. confidence: Their share of all passages that
    answer."""

    answer: str
    passages: list[str]
    titles: list[str]
    confidence: float


@dataclass(frozen=True)
class Statement(Result):
    """Hold a statement of an answer: a sentence, a step or a block of code.

    Attributes:
        text: Text of the statement, without marks of citations.
        citations: Places, from 0, in the citations of the answer; empty without a citation.
        follows: Whether the statement follows from its citations without being stated there.
        unsupported: Names, numbers, dates and quoted code of the statement that are in no line of the
            evidence.
    """

    text: str
    citations: list[int] = field(default_factory=list)
    follows: bool = False
    unsupported: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Conflict(Result):
    """Hold a question that passages answer differently, and the claims, the most supported first."""

    question: str
    claims: list[Claim]


@dataclass(frozen=True)
class QA(Result):
    """Hold a question-answer pair of the graph."""

    id: str
    question: str
    answers: list[str]


@dataclass(frozen=True)
class Hop(Result):
    """Hold a hop of a chain: the sub-question, the question with the earlier answers in it, the pair that
    answers it, and the id of the pair's passage."""

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
    """Hold a step of a path: a `name` (its `id` is the concept's) or a `passage`."""

    kind: str
    id: str
    label: str


@dataclass(frozen=True)
class Candidate(Result):
    """Hold a pair that was considered at a hop: the searches that found it, its score, and its outcome."""

    qa: QA
    via: list[str]
    score: float
    fate: str  # "kept", or why not


@dataclass(frozen=True)
class HopTrace(Result):
    """Hold a concrete question of a hop with its candidates, best first. `fallback`: the search found
    nothing, so the original question was asked instead."""

    step: int
    concrete_question: str
    fallback: bool
    candidates: list[Candidate]


@dataclass(frozen=True)
class Fact(Result):
    """Hold a proposition of the graph, and the id of its passage."""

    id: str
    text: str
    passage: str


@dataclass(frozen=True)
class FactPath(Result):
    """Hold a path of propositions, each joined to the one before by a name, a similar name or a jump.
    `score`: cosine of their mean with the question."""

    score: float
    propositions: list[Fact]


@dataclass(frozen=True)
class RunEdge(Result):
    """Hold an edge of a run: two names, their relation, and the passage and the statement (id of a
    proposition or a pair) that state it first. number: The same for the same edge everywhere."""

    number: int
    subject: str
    relation: str
    object: str
    statement: str
    passage: str


@dataclass(frozen=True)
class FoundRun(Result):
    """Hold a run that a question found, its channel ("facts", "answers"), its fine score, and its edges in
    the order of the text."""

    id: str
    channel: str
    score: float
    edges: list[RunEdge]


@dataclass(frozen=True)
class AgentStep(Result):
    """Hold a step of an agent.

    Attributes:
        agent: Name of the agent.
        stage: Stage of the model's prompt, or kind of search.
        task, outcome: Task and outcome in words.
        statements: Names of the files of `cypher/` that ran.
        passages: Ids of the found passages.
        tokens: `in` and `out`; empty without a model.
        failed: Why the step failed, or None.
    """

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
    """Hold a message to a language model, after the system message of its stage, and the reply."""

    stage: str
    prompt: str
    reply: str


@dataclass
class Trace(Result):
    """Hold the way to an answer, as the strategy wrote it.

    Of `linked`: names of the question that the memory knows, the seeds of the first walk with their weights,
    for each passage the strongest path, of the second walk if the first did not reach the passage, and
    `bridges`, from which the second walk starts. Of `pruned`: these of its one walk, `bridges` from its best
    runs, and the runs. Of `fusion` without a plan these are of the second walk. Of PropRAG: these of the last
    walk, and the paths it started from. Of `ricr` and of `fusion` with a plan: the questions of each hop,
    `hops`. Of agents: their steps, in the order in which they ended. exchanges: with the language model.
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
    """Hold a cached reply of the language model, with its cost when it was asked for. stage: "plan", "answer"
    or a strategy's own. dollars: At today's price."""

    stage: str
    tokens: dict[str, int]  # "in", "out"
    seconds: float
    dollars: float | None


@dataclass(frozen=True)
class CachedAnswer(Result):
    """Hold an earlier question (`asked_at`, ISO, UTC) whose answer was used again. `confirmed`: whether
    people said that it is right. `used`: its "answer", or the cited "evidence", which a model read again."""

    id: str
    question: str
    answer: str
    confirmed: bool
    asked_at: str
    used: str


@dataclass(frozen=True)
class Answer(Result):
    """Hold the result of `ask`. `answer` is None if the strategy does not answer; `abstained` says that the
    memory does not hold the answer.

    `confidence` is the calibrated probability that the memory holds the answer, from chains or from a search,
    even if it is too small to answer; None if the strategy has none. `missing`: missing evidence by the
    language model, or missing content of the memory. `strategy`: the strategy that ran; `why`: the reason if
    it was not the wanted strategy. `plan_source`: "given" or "llm"; `note` says why the language model gave
    no plan, no answer, or nothing else that a strategy asked it for, or that a walk went on without the
    reranker. `tokens`: `in` and `out` as the server counted them, `plan` the part of both for planning;
    `evidence` and `prompt` of the answer, as sent. `answer` is short: a name, a number or a few words; `text`
    is the answer in full, with the numbers of its citations ([1][3]: the first and the third), and
    `statements` are its parts. Without a short answer, as of steps, `answer` is the text without numbers. A
    short answer is its own text. An answer with `missing` is partial. A stream shows the short answer, if
    there is one, an empty line, and the text. `question` is complete: `note` has it too if it was a follow-up
    question ("and when did she die?"). `inferred`: the short answer follows from what is cited and is not
    said there. `conflicts`: where passages say different things, of a strategy that looks for that. `calls`
    of the language model, of which `failed_calls` gave no reply that can be used. `kept`: replies that were
    there already; what they took once is not in `tokens`, `seconds` and `dollars`. `id` of the Question node
    that keeps it, or None. `cached`: the earlier question of the question cache that it was answered from; an
    `answer_source` "cache" says that its answer was returned unchanged, "graph" that the answer is the rows
    of a statement over the graph.
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
        """Yield the passages, best first."""
        return iter(self.passages)

    def __str__(self) -> str:
        """Return the answer as text for people."""
        return as_text(self)

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows."""
        return as_html(self)
