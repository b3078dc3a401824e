"""Embedding by an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and the like."""

from __future__ import annotations

import base64
import json
import re
import time
import weakref
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.concurrency import grouped, map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import ModelError, ModelUnavailableError, UnembeddableError
from gsw_graph.model.documents import content_id
from gsw_graph.model.ledger import Entry
from gsw_graph.models.chat.cache import FILE, Cache, CachedReply, Ledger
from gsw_graph.models.chat.limits import Budget, dollars, price_of
from gsw_graph.models.endpoint import Endpoint
from gsw_graph.values import Fields

STAGE = "embed"
TEXTS, CHARACTERS = 32, 60_000  # in one request: some servers refuse more texts, others more tokens
PROBE = "gswgraph"  # a text that every model takes
ENCODINGS = ("base64", "float", "")  # of vectors, in the order in which they are tried
OF_EVERY_REQUEST = (401, 402, 403, 404, 405, 407, 408, 409, 425, 429)  # statuses that no text brings
RETRIES = 4  # by the client of openai, which waits as long as Retry-After says
TIMEOUT = 120.0  # seconds
CHARACTERS_A_TOKEN = 4
URL = "Check GSWGRAPH_EMBEDDER_URL, such as http://127.0.0.1:8080/v1, and that the server runs"
KEY = "GSWGRAPH_EMBEDDER_KEY"
SETTINGS_HINT = "Check GSWGRAPH_EMBEDDER and GSWGRAPH_EMBEDDER_DIMENSIONS"
DIMENSIONS_HINT = "Set GSWGRAPH_EMBEDDER_DIMENSIONS to what the model gives, or name the former model"
_SIZE = re.compile("token|character|byte|payload|context", re.IGNORECASE)
HINTS = {
    **dict.fromkeys((401, 403), f"Check {KEY}"),
    404: f"{URL}, and knows the model of GSWGRAPH_EMBEDDER",
    429: "Wait, or ask for a higher limit; vectors so far are kept",
}


class RefusedTextsError(ModelError):
    """Raised if a server refuses a request, but may accept others.

    Args:
        cause: The error to raise if the server accepts no text at all.
        of_size: Whether the request was too large, not of too many texts.
    """

    def __init__(self, cause: ModelError, *, of_size: bool = False) -> None:
        super().__init__(cause.message, where=cause.where, hint=cause.hint)
        self.cause = cause
        self.of_size = of_size or _SIZE.search(cause.message) is not None


Vector = NDArray[np.float32]
Vectors = dict[str, Vector]  # by text
Reasons = dict[str, str]  # why texts have no vector, by text


@dataclass(slots=True)
class RequestSizes:
    """Hold the limits of a server for a request, as its refusals show them.

    Attributes:
        texts: Largest number of texts.
        characters: Largest number of characters in all.
        encoding: Encoding of vectors, as a place in ENCODINGS.
    """

    texts: int
    characters: int
    encoding: int = 0

    def share(self, text: str) -> float:
        """Return how much of a request a text takes."""
        return max(len(text) / self.characters, 1 / self.texts)

    def learn(self, refusal: RefusedTextsError, texts: Sequence[str]) -> None:
        """Halve a limit after the server accepted these texts in halves, but not together."""
        if refusal.of_size:
            self.characters = min(self.characters, max(sum(map(len, texts)) // 2, 1))
        else:
            self.texts = min(self.texts, len(texts) // 2)


class ServerBackend:
    """Embed by a server at `/v1/embeddings`; safe to use from several threads. Vectors are kept in the cache
    of replies, so that a text is paid for once.

    budget: Limit of the requests, see `limited`. Raises ModelError for a url or key that cannot be used.
    """

    backend = "server"

    def __init__(self, settings: Settings) -> None:
        url, key = settings.embedder_url or "", settings.embedder_key
        self._end = Endpoint.check("the embedder", url, key, whole=URL, key_name=KEY)
        self.model = settings.embedder
        self.device = self._end.host
        self.budget: Budget | None = None
        self._whole: ServerBackend | None = None  # of `limited`: as long as it lives, its client is open
        self._sizes = RequestSizes(TEXTS, CHARACTERS)
        self._dimensions = settings.embedder_dimensions
        self._concurrency = settings.concurrency
        self._dimension = 0
        self._cache = Cache(settings.cache_dir / FILE)
        weakref.finalize(self, self._cache.close)
        self._client = self._end.client(TIMEOUT, RETRIES)
        weakref.finalize(self, self._client.close)

    @property
    def dimension(self) -> int:
        """Return the length of a vector, as the server gives it."""
        if not self._dimension:
            self.encode([PROBE], query=False)
        return self._dimension

    @property
    def ledger(self) -> Ledger:
        """Return what was requested, in the cache."""
        return Ledger(self._cache)

    def limited(self, budget: Budget | None) -> ServerBackend:
        """Return the same server for one caller, whose requests must fit a budget."""
        view = copy(self)
        view.budget, view._whole = budget, self
        return view

    def encode(self, texts: Sequence[str], *, query: bool) -> Vector:  # noqa: ARG002
        """Return normalised vectors (n, d) of texts with their prompt, from the cache if they are there.

        Raises:
            UnembeddableError: The server refuses some texts. The vectors of the others are cached.
            ModelError: The server cannot be used. Earlier vectors are cached.
        """
        keys = {text: self._key(text) for text in texts}
        vectors: Vectors = {}
        for text, key in keys.items():
            if cached := self._cache.get(key):
                vectors[text] = self._checked(np.frombuffer(base64.b64decode(cached.content), "<f4"))
        if vectors:
            self.ledger.add(Entry("", STAGE, self.model, cached=len(vectors)))
        missing = [text for text in keys if text not in vectors]
        reasons: Reasons = {}
        requests = grouped(missing, self._sizes.share, 1)
        workers = min(self._concurrency, len(missing))
        for batch, refused in map_unordered(self._embed, requests, workers):
            vectors |= batch
            reasons |= refused
        if reasons:
            raise UnembeddableError(reasons, where=self._end.host, hint="Shorten it, or leave it out")
        return np.stack([vectors[text] for text in texts])

    def request(self, texts: Sequence[str]) -> tuple[list[Vector], int]:
        """Call the server once, without the cache. Return normalised vectors and the counted tokens.

        Raises:
            RefusedTextsError: The server refuses these texts, or its vectors cannot be used.
            ModelError: The server cannot be reached, or refuses every request.
        """
        import openai

        if len(texts) > 1:
            # Halves of many texts are tries enough; what has nothing to do with the texts is tried again.
            try:
                return self._request(self._client.with_options(max_retries=0), texts)
            except openai.OpenAIError:
                pass
        try:
            return self._request(self._client, texts)
        except openai.OpenAIError as error:
            raise self._end.refusal(error, HINTS, SETTINGS_HINT) from None  # some repeat the key

    def _request(self, client: Any, texts: Sequence[str]) -> tuple[list[Vector], int]:
        """Ask once. Raises RefusedTextsError; openai.OpenAIError if it has nothing to do with the texts."""
        import openai

        try:
            return self._read(self._post(client, texts), len(texts))
        except openai.APIStatusError as error:
            status = error.status_code
            if not 400 <= status <= 500 or status in OF_EVERY_REQUEST:
                raise
            refusal = self._end.refusal(error, HINTS, SETTINGS_HINT)
            raise RefusedTextsError(refusal, of_size=status == 413) from None
        except (ValueError, TypeError, AttributeError, LookupError) as error:  # cut, or of another form
            reason = f"the embedder's reply cannot be used ({self._end.short(str(error))})"
            raise RefusedTextsError(self._end.error(reason, URL)) from error

    def _post(self, client: Any, texts: Sequence[str]) -> Any:
        """Return the JSON of the server's reply. A server that does not know an encoding is asked without."""
        import openai

        body: Fields = {"model": self.model, "input": [text or " " for text in texts]}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        if encoding := ENCODINGS[self._sizes.encoding]:
            body["encoding_format"] = encoding
        try:
            return json.loads(client.post("/embeddings", cast_to=str, body=body))
        except openai.APIStatusError as error:
            if not encoding or not re.search("encoding_format|base64", error.response.text):
                raise
            # Another thread may have learned the same.
            self._sizes.encoding = max(self._sizes.encoding, ENCODINGS.index(encoding) + 1)
            return self._post(client, texts)

    def _embed(self, texts: list[str], first: RefusedTextsError | None = None) -> tuple[Vectors, Reasons]:
        """Return the vectors of some texts, and why the others have none. What the server refuses is asked
        for in halves, and what it takes then is the size of later requests.

        Args:
            texts: Of one request.
            first: What it said of more of them.
        """
        try:
            return self._keep(texts), {}
        except RefusedTextsError as error:
            first = first or error
            if len(texts) == 1:
                return {}, {texts[0]: self._reason(texts[0], error, first)}
            middle = len(texts) // 2
            vectors, reasons = self._embed(texts[:middle], first)
            others, other_reasons = self._embed(texts[middle:], first)
            reasons |= other_reasons
            if not reasons:
                self._sizes.learn(error, texts)
            return vectors | others, reasons

    def _reason(self, text: str, error: RefusedTextsError, first: RefusedTextsError) -> str:
        """Return why a text has no vector. Raises what the server said first if it takes no other text
        either."""
        try:
            if text == PROBE:
                raise first.cause
            self.request([PROBE])
        except RefusedTextsError:
            raise first.cause from None
        return error.cause.message

    def _keep(self, texts: list[str]) -> Vectors:
        """Return the vectors of one request, kept before this returns."""
        estimate, price = tokens_of(texts), price_of(self.model)
        if self.budget and self.budget.unit == "$" and price is None:
            message = f"the price of {self.model} is not known"
            hint = "Give the budget in tokens, such as 1Mtok"
            raise ModelUnavailableError(message, where=self._end.host, hint=hint)
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
        of_text = dict(zip(texts, vectors, strict=True))
        with self._cache.writing():
            for text, vector in of_text.items():
                content = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                reply = CachedReply(content, tokens // len(texts), 0, seconds)
                self._cache.put(self._key(text), self.model, STAGE, reply)
            self.ledger.add(entry)
        return of_text

    def _read(self, reply: Any, count: int) -> tuple[list[Vector], int]:
        """Return vectors and tokens of a reply: as OpenAI writes it, or as the own interfaces of
        text-embeddings-inference, Ollama and llama.cpp do. Raises ValueError and the like for any other."""
        rows, tokens = reply, 0
        if not isinstance(reply, list):
            rows = reply.get("data", reply.get("embeddings"))
            usage = reply.get("usage")
            counted = usage.get("prompt_tokens") if isinstance(usage, dict) else 0
            tokens = counted if isinstance(counted, int) else 0
        vectors: dict[Any, Vector] = {}
        for position, row in enumerate(rows):
            written = row
            if isinstance(row, dict):
                position = row.get("index", position)
                written = row["embedding"]
            vector = _vector(written)
            if vector.ndim != 1 or not vector.size:
                raise ValueError("a vector is empty, or a table")
            vectors[position] = vector
        if len(rows) != count or vectors.keys() != set(range(count)):
            raise ValueError(f"it has not one vector for each of {count} texts")
        return [self._checked(vectors[i]) for i in range(count)], tokens

    def _checked(self, vector: Vector) -> Vector:
        """Return a vector of length 1. Raises ValueError if it is none, ModelError if its dimension is
        another than before."""
        size = float(np.linalg.norm(vector))
        if not np.isfinite(size) or not size:
            raise ValueError("a vector is zero or no number")
        dimension = len(vector)
        wanted = self._dimensions or self._dimension or dimension
        if dimension != wanted:
            message = f"the server gives vectors of {dimension} dimensions, not {wanted}"
            raise self._end.error(message, DIMENSIONS_HINT)
        self._dimension = dimension
        return (vector / size).astype(np.float32)

    def _key(self, text: str) -> str:
        return content_id("embedding 1", self.model, str(self._dimensions), text)


def _vector(value: Any) -> Vector:
    """Return a vector that is written as base64, as a list, or as the one row of a table."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), "<f4")
    vector = np.asarray(value, np.float32)
    return vector[0] if vector.ndim == 2 and len(vector) == 1 else vector


def tokens_of(texts: Sequence[str]) -> int:
    """Estimate the tokens of some texts."""
    return sum(len(text) // CHARACTERS_A_TOKEN + 1 for text in texts)
