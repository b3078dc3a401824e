"""Give a strategy what it works with: a memory and its models, and the clocks and the trace of a question."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.retrieve.names.graph import Neighbourhood
from gsw_graph.ask.retrieve.recipes import Fit
from gsw_graph.ask.strategy import ChainScale, Strategy
from gsw_graph.model.results import Trace
from gsw_graph.telemetry import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.names.graph import Neighbourhood
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.models.chat.chat import QuestionModel
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.models.rerank import Reranker
    from gsw_graph.store.reader import Reader

    Floats: TypeAlias = NDArray[np.float32]

STAGES = (
    "plan",
    "embed",
    "database",
    "rank",
    "rerank",
    "answer",
)  # of every answer; a strategy may add its own


class Models(Protocol):
    """Load models on the client, each at its first use. `Memory` is an implementation."""

    @property
    def embedder(self) -> Embedder: ...
    @property
    def reranker(self) -> Reranker | None: ...


@dataclass(eq=False)
class RetrievalContext:
    """Hold one question on its way through a memory.

    Attributes:
        reader: Typed reads of the graph.
        models: The models on the client.
        build_runs: Builds the runs of edges that are missing, which `pruned` needs.
        llm: The language model that was set, or None.
        on_text: Gets the answer of the model as it arrives.
        on_stage: Called when a stage begins, and with its progress.
        options: Options of the question.
        fit: Scales of scores.
        trace: Gets the way in which a strategy found its passages; None if no trace is wanted.
        seconds: Seconds by stage.
        models_used: Names of the models that ran, by kind.
        notes: Failures that did not end the question; shared with forks.
    """

    reader: Reader
    models: Models
    build_runs: Callable[[], None]
    _: KW_ONLY
    llm: QuestionModel | None = None
    on_text: Callable[[str], None] | None = None
    on_stage: Callable[[str, str | None], None] | None = None
    options: AskOptions = field(default_factory=AskOptions)
    fit: Fit = field(default_factory=Fit)

    def __post_init__(self) -> None:
        self.trace = Trace() if self.options.trace else None
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.models_used: dict[str, str] = {"llm": self.llm.model} if self.llm else {}
        self.notes: list[str] = []
        self._stage = "database"
        self._vectors: dict[str, Floats] = {}
        self._has_pairs: bool | None = None
        self._neighbourhood: Neighbourhood | None = None

    def fork(self) -> RetrievalContext:
        """Return a context for a search beside others: own reads, clocks, neighbourhood; the same models."""
        part = copy(self)
        part.reader = copy(self.reader)
        part.reader.round_trips = 0
        part.seconds = dict.fromkeys(STAGES, 0.0)
        part.trace = part._neighbourhood = part.on_stage = None
        return part

    def join(self, part: RetrievalContext) -> None:
        """Add the costs of a parallel search."""
        self.reader.round_trips += part.reader.round_trips
        for stage, seconds in part.seconds.items():
            self.add_seconds(stage, seconds)

    @property
    def neighbourhood(self) -> Neighbourhood:
        """Return the part of the graph of names that was fetched for the question, empty at first."""
        if self._neighbourhood is None:
            self._neighbourhood = Neighbourhood()
        return self._neighbourhood

    @property
    def has_pairs(self) -> bool:
        """Tell whether the memory holds question-answer pairs, which chains need; asked once."""
        if self._has_pairs is None:
            with self.clock("database"):
                self._has_pairs = self.reader.has_pairs()
        return self._has_pairs

    @property
    def pairs_seen(self) -> bool:
        """Tell whether somebody asked for pairs and there are some."""
        return bool(self._has_pairs)

    @property
    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings; None for `cosine`, which compares the embedder's vectors and
        words."""
        reranker = self.models.reranker
        self.models_used["reranker"] = reranker.name if reranker else "cosine"
        return reranker

    def relevance(self, question: str, passages: Sequence[RankedPassage]) -> list[float] | None:
        """Return the relevance of each passage to a question by the reranker, in [0, 1]; None without a
        reranker. Raises ModelError."""
        reranker = self.models.reranker
        if reranker is None:
            return None
        pairs = [(question, f"{passage.title}\n{passage.text}") for passage in passages]
        with self.clock("rerank"):
            scores: list[float] = reranker.score(pairs).tolist()
        self.models_used["reranker"] = reranker.name
        return scores

    @property
    def is_fitted(self) -> bool:
        """Tell whether the scores of pairs are fitted to the embedder that ran."""
        return self.fit.fits_embedder(self.models_used.get("embedder", self.fit.embedder))

    def confidence(self, strategy: Strategy[Any]) -> ChainScale | None:
        """Return the scale of the confidence of a strategy's chains: fitted, or plain if another reranker
        scored."""
        if strategy.confidence is None:
            return None
        if self.models_used.get("reranker", "cosine") != self.fit.reranker:
            return ()
        return self.fit.chains.get(strategy.name, strategy.confidence)

    @property
    def calibration_warning(self) -> str | None:
        """Return a note if the scores of chains are not fitted to the models in use, else None."""
        fit = self.fit
        reranker = self.models_used.get("reranker", fit.reranker)
        if self.is_fitted and reranker == fit.reranker:
            return None
        return (
            f"its scores are fitted to {fit.embedder} and {fit.reranker}, not to "
            f"{self.models_used.get('embedder')} and {reranker}, so plain ones are used (gswgraph eval fit)"
        )

    def vectors(self, questions: Sequence[str]) -> dict[str, Floats]:
        """Return vectors of some questions, of length 1. New questions are encoded in one batch."""
        new = [text for text in dict.fromkeys(questions) if text not in self._vectors]
        if new:
            with self.clock("embed"):
                self._vectors.update(zip(new, self._embedder.encode_query(new), strict=True))
        return {text: self._vectors[text] for text in questions}

    def vector(self, question: str) -> Floats:
        """Return the vector of one question."""
        return self.vectors([question])[question]

    def text_vectors(self, texts: Sequence[str]) -> Floats:
        """Return vectors of texts as the memory holds them: (n, dimension), of length 1."""
        with self.clock("embed"):
            return self._embedder.encode(texts)

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Add the time inside the block to the seconds of a stage."""
        start = perf_counter()
        self.start_stage(stage)
        try:
            with span(stage):
                yield
        finally:
            self.add_seconds(stage, perf_counter() - start)

    def start_stage(self, stage: str, text: str | None = None) -> None:
        """Report to `on_stage` that a stage begins, and what it does."""
        self._stage = stage
        self.note(text)

    def add_seconds(self, stage: str, seconds: float) -> None:
        """Add seconds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def note(self, text: str | None) -> None:
        """Report to `on_stage` the progress of the stage, in words; with None only that it goes on."""
        if self.on_stage is not None:
            self.on_stage(self._stage, text)

    @property
    def _embedder(self) -> Embedder:
        embedder = self.models.embedder
        self.models_used["embedder"] = embedder.name
        return embedder
