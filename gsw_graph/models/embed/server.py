"""Embedding by an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and the like."""

from __future__ import annotations

import base64
import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.concurrency import grouped, map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import ModelError, StoppedError
from gsw_graph.model.documents import content_id
from gsw_graph.models.chat.cache import FILE, Cache, CachedReply, Entry, Ledger
from gsw_graph.models.chat.limits import Budget, dollars, price_of
from gsw_graph.models.endpoint import Endpoint

STAGE = "embed"
TEXTS, CHARACTERS = 32, 60_000  # in one request: some servers refuse more texts, others more tokens
RETRIES = 4  # by the client of openai, which waits as long as Retry-After says
TIMEOUT = 120.0  # seconds
CHARACTERS_A_TOKEN = 4
URL = "Check GSWGRAPH_EMBEDDER_URL, such as http://127.0.0.1:8080/v1, and that the server runs"
KEY = "GSWGRAPH_EMBEDDER_KEY"
HINTS = {
    **dict.fromkeys((401, 403), f"Check {KEY}"),
    404: f"{URL}, and knows the model of GSWGRAPH_EMBEDDER",
    429: "Wait, or ask for a higher limit; vectors so far are kept",
}


class ServerBackend:
    """A model behind `/v1/embeddings`; safe to use from several threads. Vectors are kept in the cache of
    replies, so that a text is paid for once.

    budget: what requests may take, set by a load. Raises ModelError for a url or key that cannot be used.
    """

    backend = "server"

    def __init__(self, settings: Settings) -> None:
        url, key = settings.embedder_url or "", settings.embedder_key
        self._end = Endpoint.check("the embedder", url, key, whole=URL, key_name=KEY)
        self.model, self.device = settings.embedder, self._end.host
        self.budget: Budget | None = None
        self._dimensions, self._concurrency = settings.embedder_dimensions, settings.concurrency
        self._dimension = 0
        self._cache = Cache(settings.cache_dir / FILE)
        weakref.finalize(self, self._cache.close)
        self._client = self._end.client(TIMEOUT, RETRIES)
        weakref.finalize(self, self._client.close)

    @property
    def dimension(self) -> int:
        """Length of a vector, as the server gives them."""
        if not self._dimension:
            self.encode(["gswgraph"], query=False)
        return self._dimension

    @property
    def ledger(self) -> Ledger:
        """What was requested, in the cache."""
        return Ledger(self._cache)

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:  # noqa: ARG002
        """Return normalised vectors (n, d) of texts that have their prompt, kept ones where there are any.

        Raises:
            ModelError: the server cannot be used. Vectors that came before are kept.
        """
        keys = {text: self._key(text) for text in texts}
        vectors: dict[str, NDArray[np.float32]] = {}
        for text, key in keys.items():
            if cached := self._cache.get(key):
                vectors[text] = self._checked(np.frombuffer(base64.b64decode(cached.content), "<f4"))
        if vectors:
            self.ledger.add(Entry("", STAGE, self.model, cached=len(vectors)))
        missing = (text for text in keys if text not in vectors)
        if requests := list(grouped(missing, lambda text: max(len(text) / CHARACTERS, 1 / TEXTS), 1)):
            for batch in map_unordered(self._embed, requests, min(self._concurrency, len(requests))):
                vectors.update(batch)
        return np.stack([vectors[text] for text in texts])

    def request(self, texts: Sequence[str]) -> tuple[list[NDArray[np.float32]], int]:
        """Ask the server once, without the cache: normalised vectors, and the tokens that it counted.

        Raises:
            ModelError: it cannot be reached, refuses, or its replies cannot be used.
        """
        import openai

        options: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        try:
            reply = self._client.embeddings.create(
                model=self.model, input=[text or " " for text in texts], **options
            )
            return self._read(reply, len(texts))
        except openai.OpenAIError as error:
            hint = "Check GSWGRAPH_EMBEDDER and GSWGRAPH_EMBEDDER_DIMENSIONS"
            raise self._end.refusal(error, HINTS, hint) from None  # some servers repeat the key
        except (ValueError, TypeError, AttributeError) as error:  # cut, or of another form
            raise ModelError(
                f"the embedder's reply cannot be used ({self._end.short(str(error))})",
                where=self._end.host,
                hint=URL,
            ) from error

    def _embed(self, texts: list[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of one request, kept before this returns."""
        estimate, price = tokens_of(texts), price_of(self.model)
        if self.budget and self.budget.unit == "$" and price is None:
            raise StoppedError(
                f"the price of {self.model} is not known",
                where=self._end.host,
                hint="Give the budget in tokens, such as 1Mtok",
            )
        reserved = self.budget.reserve(estimate, 0, price) if self.budget else 0.0
        start, tokens = time.perf_counter(), 0
        try:
            vectors, counted = self.request(texts)
            tokens = counted or estimate
        finally:
            if self.budget:
                self.budget.settle(reserved, tokens, 0, price)
        seconds = time.perf_counter() - start
        entry = Entry(
            "",
            STAGE,
            self.model,
            calls=1,
            prompt_tokens=tokens,
            prompt_estimate=estimate,
            estimated=int(not counted),
            seconds=seconds,
            dollars=dollars(price, tokens, 0) if price else None,
        )
        with self._cache.writing():
            for text, vector in zip(texts, vectors, strict=True):
                content = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                reply = CachedReply(content, tokens // len(texts), 0, seconds)
                self._cache.put(self._key(text), self.model, STAGE, reply)
            self.ledger.add(entry)
        return dict(zip(texts, vectors, strict=True))

    def _read(self, reply: Any, count: int) -> tuple[list[NDArray[np.float32]], int]:
        vectors = {item.index: np.asarray(item.embedding, np.float32) for item in reply.data}
        if vectors.keys() != set(range(count)) or any(
            vector.ndim != 1 or not vector.size for vector in vectors.values()
        ):
            raise ValueError(f"it has not one vector for each of {count} texts")
        tokens = getattr(reply.usage, "prompt_tokens", 0)
        return [self._checked(vectors[i]) for i in range(count)], tokens if isinstance(tokens, int) else 0

    def _checked(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a vector of length 1. Raises ValueError where it is none, ModelError where its dimension is
        another than that of those before."""
        size = float(np.linalg.norm(vector))
        if not np.isfinite(size) or not size:
            raise ValueError("a vector is zero or no number")
        wanted = self._dimensions or self._dimension or len(vector)
        if len(vector) != wanted:
            hint = "Set GSWGRAPH_EMBEDDER_DIMENSIONS to what the model gives, or name the former model"
            raise ModelError(
                f"the server gives vectors of {len(vector)} dimensions, not {wanted}",
                where=self._end.host,
                hint=hint,
            )
        self._dimension = len(vector)
        return (vector / size).astype(np.float32)

    def _key(self, text: str) -> str:
        return content_id("embedding 1", self.model, str(self._dimensions), text)


def tokens_of(texts: Sequence[str]) -> int:
    """Estimate the tokens of some texts."""
    return sum(len(text) // CHARACTERS_A_TOKEN + 1 for text in texts)
