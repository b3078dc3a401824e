"""What a strategy works with: one memory, its models, and for one question the clocks and the trace."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.retrieve.recipes import Fit
from gsw_graph.ask.strategy import ChainConfidence, Strategy
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

STAGES = (
    "plan",
    "embed",
    "database",
    "rank",
    "rerank",
    "answer",
)  # of every answer; a strategy may add its own


class Models(Protocol):
    """The models on the client, each loaded when it is first asked for; `Memory` is one."""

    @property
    def embedder(self) -> Embedder: ...
    @property
    def reranker(self) -> Reranker | None: ...


class Context:
    """One question on its way through a memory.

    reader: typed reads of the graph. build_runs: builds the runs of edges that are missing, which `pruned`
    needs. llm: the language model that was set, or None; on_text gets its answer as it comes. on_stage: told
    when a stage begins, and what goes on in it.
    neighbourhood: what was fetched of the graph of names for the question.
    trace: where a strategy writes how it found what it found, None where nobody asked. options: how the
    question is asked.
    seconds: by stage. used: the models that ran, by kind. notes: what failed and was done without; of this
    and its forks.
    """

    def __init__(
        self,
        reader: Reader,
        models: Models,
        build_runs: Callable[[], None],
        *,
        llm: QuestionModel | None = None,
        on_text: Callable[[str], None] | None = None,
        on_stage: Callable[[str, str | None], None] | None = None,
        options: AskOptions | None = None,
        fit: Fit | None = None,
    ) -> None:
        self.reader, self.build_runs = reader, build_runs
        self.llm, self.on_text = llm, on_text
        self.options = options or AskOptions()
        self.fit = fit or Fit()
        self.trace = Trace() if self.options.trace else None
        self._on_stage, self._stage = on_stage, "database"
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.used: dict[str, str] = {"llm": llm.model} if llm else {}
        self.notes: list[str] = []
        self._models = models
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._has_pairs: bool | None = None
        self.neighbourhood: Neighbourhood | None = None

    def fork(self) -> Context:
        """Return a context for a search beside others: own reads, clocks, neighbourhood; the same models."""
        part = copy(self)
        part.reader, part.trace, part.neighbourhood, part._on_stage = copy(self.reader), None, None, None
        part.reader.round_trips, part.seconds = 0, dict.fromkeys(STAGES, 0.0)
        return part

    def join(self, part: Context) -> None:
        """Add what a search beside others took."""
        self.reader.round_trips += part.reader.round_trips
        for stage, seconds in part.seconds.items():
            self.took(stage, seconds)

    @property
    def has_pairs(self) -> bool:
        """Tell whether the memory holds question-answer pairs, which chains need; asked once."""
        if self._has_pairs is None:
            with self.clock("database"):
                self._has_pairs = self.reader.has_pairs()
        return self._has_pairs

    @property
    def met_pairs(self) -> bool:
        """Tell whether somebody asked for pairs and there are some."""
        return bool(self._has_pairs)

    @property
    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings; None for `cosine`, where the embedder's vectors and words are
        compared."""
        reranker = self._models.reranker
        self.used["reranker"] = reranker.name if reranker else "cosine"
        return reranker

    def relevance(self, question: str, passages: Sequence[RankedPassage]) -> list[float] | None:
        """Return how well each passage answers a question, in [0, 1], by the reranker of the settings; None
        without one. Raises ModelError."""
        if (reranker := self._models.reranker) is None:
            return None
        with self.clock("rerank"):
            scores: list[float] = reranker.score(
                [(question, f"{p.title}\n{p.text}") for p in passages]
            ).tolist()
        self.used["reranker"] = reranker.name
        return scores

    @property
    def is_fitted(self) -> bool:
        """Tell whether the scores of pairs are fitted to the embedder that ran."""
        return self.fit.fits_embedder(self.used.get("embedder", self.fit.embedder))

    def confidence(self, strategy: Strategy[Any]) -> ChainConfidence | None:
        """Return how sure the chains of a strategy are: fitted, or plain where another reranker scored."""
        if strategy.confidence is None or self.used.get("reranker", "cosine") != self.fit.reranker:
            return strategy.confidence and ChainConfidence((), 0.0)
        *weights, bias = self.fit.chains.get(
            strategy.name, (*strategy.confidence.weights, strategy.confidence.bias)
        )
        return ChainConfidence(tuple(weights), bias)

    @property
    def unfitted(self) -> str | None:
        """Say what the scores of chains are not fitted to; None where they are."""
        embedder, reranker = (self.used.get(name) for name in ("embedder", "reranker"))
        if self.is_fitted and reranker in (None, self.fit.reranker):
            return None
        return (
            f"its scores are fitted to {self.fit.embedder} and {self.fit.reranker}, not to {embedder} and "
            f"{reranker or self.fit.reranker}, so plain ones are used (gswgraph eval fit)"
        )

    def vectors(self, questions: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return vectors of some questions, of length 1; those that are new encoded in one batch."""
        if new := [text for text in dict.fromkeys(questions) if text not in self._vectors]:
            with self.clock("embed"):
                self._vectors.update(zip(new, self._embedder.encode_query(new), strict=True))
        return {text: self._vectors[text] for text in questions}

    def vector(self, question: str) -> NDArray[np.float32]:
        """Return the vector of one question."""
        return self.vectors([question])[question]

    def text_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of texts as the memory holds them: (n, dimension), of length 1."""
        with self.clock("embed"):
            return self._embedder.encode(texts)

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Add what passes inside to a stage's seconds."""
        start = perf_counter()
        self.begin(stage)
        try:
            with span(stage):
                yield
        finally:
            self.took(stage, perf_counter() - start)

    def begin(self, stage: str, text: str | None = None) -> None:
        """Tell who waits that a stage begins, and what it does."""
        self._stage = stage
        self.note(text)

    def took(self, stage: str, seconds: float) -> None:
        """Add seconds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def note(self, text: str | None) -> None:
        """Tell who waits what the stage under way does, in words or, for None, only that it is under way."""
        if self._on_stage is not None:
            self._on_stage(self._stage, text)

    @property
    def _embedder(self) -> Embedder:
        embedder = self._models.embedder
        self.used["embedder"] = embedder.name
        return embedder
