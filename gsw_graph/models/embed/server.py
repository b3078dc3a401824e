"""Embedding by an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and the like."""

from __future__ import annotations

import base64
import time
import weakref
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.concurrency import map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import ModelError, StoppedError
from gsw_graph.model.documents import content_id
from gsw_graph.models.chat.cache import FILE, Cache, CachedReply, Entry, Ledger
from gsw_graph.models.chat.limits import Budget, dollars, price_of
from gsw_graph.models.endpoint import Endpoint

STAGE = "embed"
TEXTS, CHARACTERS = 32, 60_000  # in one request: some servers refuse more texts, others more tokens
RETRIES = 4  # by the client of openai, which waits as long as Retry-After says
TRIES = 2  # of a request whose reply cannot be used
TIMEOUT, CONNECT = 120.0, 10.0  # seconds
CHARACTERS_A_TOKEN = 4
URL = "Check GSWGRAPH_EMBEDDER_URL, such as http://127.0.0.1:8080/v1, and that the server runs"


class ServerBackend:
    """A model behind `/v1/embeddings`; safe to use from several threads. Vectors are kept in the cache of
    replies, so that a text is paid for once.

    budget: what requests may take, set by a load. Raises ModelError for a url or key that cannot be used.
    """

    backend = "server"

    def __init__(self, settings: Settings) -> None:
        self._end = Endpoint.check(
            "the embedder",
            settings.embedder_url or "",
            settings.embedder_key,
            whole=URL,
            key_name="GSWGRAPH_EMBEDDER_KEY",
        )
        self.model, self.device = settings.embedder, self._end.host
        self.budget: Budget | None = None
        self._dimensions, self._concurrency = settings.embedder_dimensions, settings.concurrency
        self._path = settings.cache_dir / FILE
        self._lock = Lock()
        self._client: Any = None
        self._cache: Cache | None = None
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """Length of a vector, as the server gives them."""
        if not self._dimension:
            self.encode(["gswgraph"], query=False)
        return self._dimension

    @property
    def ledger(self) -> Ledger:
        """What was asked, in the cache."""
        return Ledger(self._opened())

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:  # noqa: ARG002
        """Return normalised vectors (n, d) of texts that have their prompt, kept ones where there are any.

        Raises:
            ModelError: the server cannot be used. Vectors that came before are kept.
        """
        cache, keys = self._opened(), {text: self._key(text) for text in texts}
        vectors: dict[str, NDArray[np.float32]] = {}
        for text, key in keys.items():
            if kept := cache.get(key):
                vectors[text] = self._checked(np.frombuffer(base64.b64decode(kept.content), "<f4"))
        cached = len(vectors)
        if cached:
            Ledger(cache).add(Entry("", STAGE, self.model, cached=cached))
        missing = list(_requests([text for text in keys if text not in vectors]))
        for some in (
            map_unordered(self._embed, missing, min(self._concurrency, len(missing))) if missing else ()
        ):
            vectors.update(some)
        return np.stack([vectors[text] for text in texts])

    def request(self, texts: Sequence[str]) -> tuple[list[NDArray[np.float32]], int]:
        """Ask the server once, without the cache: normalised vectors, and the tokens that it counted.

        Raises:
            ModelError: it cannot be reached, refuses, or its replies cannot be used.
        """
        import openai

        options: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        for left in reversed(range(TRIES)):
            try:
                reply = self._opened_client().embeddings.create(
                    model=self.model, input=[text or " " for text in texts], **options
                )
                return self._read(reply, len(texts))
            except openai.OpenAIError as error:
                raise self._refused(error) from None  # some servers repeat the key
            except (ValueError, TypeError, AttributeError) as error:  # cut, or of another form
                if not left:
                    what = f"the embedder's reply cannot be used ({self._end.short(str(error))})"
                    raise ModelError(what, where=self._end.host, hint=URL) from error
        raise AssertionError

    def _embed(self, texts: list[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of one request, kept before this returns."""
        estimate, price = tokens_of(texts), price_of(self.model)

        def charge(count: int) -> None:
            if self.budget and self.budget.unit == "$" and price is None:
                hint = "Give the budget in tokens, such as 1Mtok"
                raise StoppedError(f"the price of {self.model} is not known", where=self._end.host, hint=hint)
            if self.budget:
                self.budget.charge(dollars(price, count, 0) if self.budget.unit == "$" and price else count)

        charge(estimate)
        start = time.perf_counter()
        try:
            vectors, tokens = self.request(texts)
        except BaseException:
            charge(-estimate)
            raise
        seconds, cache = time.perf_counter() - start, self._opened()
        entry = Entry(
            "",
            STAGE,
            self.model,
            calls=1,
            prompt_tokens=tokens or estimate,
            prompt_estimate=estimate,
            estimated=int(not tokens),
            seconds=seconds,
            dollars=dollars(price, tokens or estimate, 0) if price else None,
        )
        with cache.writing():
            for text, vector in zip(texts, vectors, strict=True):
                content = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                cache.put(
                    self._key(text), self.model, STAGE, CachedReply(content, tokens // len(texts), 0, seconds)
                )
            Ledger(cache).add(entry)
        charge((tokens or estimate) - estimate)  # last: what came is kept
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
            what = f"the server gives vectors of {len(vector)} dimensions, not {wanted}"
            hint = "Set GSWGRAPH_EMBEDDER_DIMENSIONS to what the model gives, or name the former model"
            raise ModelError(what, where=self._end.host, hint=hint)
        self._dimension = len(vector)
        return (vector / size).astype(np.float32)

    def _refused(self, error: Any) -> ModelError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return StoppedError("the embedder did not answer in time", where=self._end.host, hint=URL)
        if not isinstance(error, openai.APIStatusError):
            detail = self._end.short(str(error.__cause__ or error))
            return StoppedError(f"the embedder cannot be reached ({detail})", where=self._end.host, hint=URL)
        what = f"the embedder answered {error.status_code}: {self._end.short(error.message)}"
        hint = {
            **dict.fromkeys((401, 403), "Check GSWGRAPH_EMBEDDER_KEY"),
            404: f"{URL}, and knows the model of GSWGRAPH_EMBEDDER",
            429: "Wait, or ask for a higher limit; vectors so far are kept",
        }.get(error.status_code, "Check GSWGRAPH_EMBEDDER and GSWGRAPH_EMBEDDER_DIMENSIONS")
        return StoppedError(what, where=self._end.host, hint=hint)

    def _key(self, text: str) -> str:
        return content_id("embedding 1", self.model, str(self._dimensions), text)

    def _opened(self) -> Cache:
        with self._lock:
            if self._cache is None:
                self._cache = Cache(self._path)
                weakref.finalize(self, self._cache.close)
            return self._cache

    def _opened_client(self) -> Any:
        with self._lock:
            if self._client is None:
                import openai

                timeout = openai.Timeout(TIMEOUT, connect=CONNECT)
                # trust_env: a proxy named in the environment must not see what is meant for this machine.
                http = openai.DefaultHttpxClient(
                    timeout=timeout, follow_redirects=False, trust_env=not self._end.here
                )
                self._client = openai.OpenAI(
                    api_key=self._end.key or "none",
                    base_url=str(self._end.url),
                    max_retries=RETRIES,
                    timeout=timeout,
                    http_client=http,
                )
                # the client takes them from the environment, and tells them to any server
                self._client.organization = self._client.project = None
                weakref.finalize(self, self._client.close)
            return self._client


def tokens_of(texts: Sequence[str]) -> int:
    """Estimate the tokens of some texts."""
    return sum(len(text) // CHARACTERS_A_TOKEN + 1 for text in texts)


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split texts into requests of a bounded size."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == TEXTS or size + len(text) > CHARACTERS):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
