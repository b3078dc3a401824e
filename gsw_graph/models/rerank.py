"""Reranking: how well a document answers a query, by a CrossEncoder or by a `/rerank` server."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gsw_graph.concurrency import map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import ModelError
from gsw_graph.models.embed import torch_backend
from gsw_graph.models.embed.embedder import encodable, find_model
from gsw_graph.models.endpoint import Endpoint
from gsw_graph.values import Fields

COSINE = "cosine"
NOT_NEEDED = "do without: GSWGRAPH_RERANKER=cosine"
ONE_NUMBER = "Give a CrossEncoder that scores with one number, such as cross-encoder/ms-marco-MiniLM-L6-v2"

TIMEOUT = 30.0  # seconds in which a connection or the next part of a reply must come
RETRIES = 2  # by the client of openai, which waits as long as Retry-After says
THREADS = 4
DOCUMENTS = 500  # in one request
TEXTS = 32  # in one request to text-embeddings-inference, which refuses more unless it was started otherwise
ROUNDING = 1e-3  # how far outside [0, 1] a score may be and still be no logit
URL = "Check that it runs, and give the whole url in GSWGRAPH_RERANKER, such as https://host/v1/rerank"
HINTS = {
    **dict.fromkeys((401, 403), "Check GSWGRAPH_RERANKER_KEY"),
    404: f"{URL}, and a model that is there in GSWGRAPH_RERANKER_MODEL",
    429: "Wait, or ask for a higher limit",
}
CHECK = f"Check GSWGRAPH_RERANKER and GSWGRAPH_RERANKER_MODEL, or {NOT_NEEDED}"


Pairs = Sequence[tuple[str, str]]  # queries with documents
Scores = NDArray[np.float32]


class Reranker(Protocol):
    """Gives pairs of a query and a document a score; safe to use from several threads.

    name: for traces; holds no secret.
    """

    name: str

    def score(self, pairs: Pairs) -> Scores:
        """Return the relevance in [0, 1] of each document to its query, in the order of the pairs.

        Raises:
            ModelError: the model or the server fails.
        """


def load(settings: Settings) -> Reranker | None:
    """Load the reranker that the settings name; None for `cosine`, which compares vectors.

    Raises:
        ModelError: The reranker cannot be loaded, or its url cannot be used.
        InputError: There is no such device.
    """
    name = settings.reranker
    if name == COSINE:
        return None
    if name.lower().startswith(("http://", "https://")):
        return HttpReranker(name, settings.reranker_model, settings.reranker_key)
    return CrossEncoderReranker(name, settings.device, trust=settings.trust_remote_code)


class CrossEncoderReranker(torch_backend.TorchModel):
    """Rerank by a CrossEncoder of sentence-transformers (extra `gpu`), in half precision on a GPU.

    The model gives logits, whether its default is logits (`Identity`, as in ms-marco models) or their
    `Sigmoid`. The sigmoid is taken here, once and in full precision, unless the last layer of the model has
    one already.
    """

    kind = "CrossEncoder"

    def __init__(self, name: str, device: str = "auto", *, trust: bool = False) -> None:
        device = torch_backend.choose_device(device)
        super().__init__(name, find_model(name), device, trust=trust)
        self._is_sigmoid = _ends_in_sigmoid(name, self.model)
        if device == "cuda":
            self._halve()

    def score(self, pairs: Pairs) -> Scores:
        """Return the relevance of each pair; see `Reranker.score`."""
        if not pairs:
            return np.empty(0, np.float32)
        distinct, rows = _distinct(pairs)
        longest_first = sorted(range(len(distinct)), key=lambda i: -sum(map(len, distinct[i])))
        scores = np.empty(len(distinct))
        hint = f"Try GSWGRAPH_DEVICE=cpu, or {NOT_NEEDED}"
        try:
            with self._lock:
                scores[longest_first] = self._predict([distinct[i] for i in longest_first])
        except (RuntimeError, MemoryError) as error:
            message = f"scoring {len(distinct)} pairs failed ({error})"
            raise ModelError(message, where=self.name, hint=hint) from error
        if not np.isfinite(scores).all():
            raise ModelError("the reranker gives scores that are not numbers", where=self.name, hint=hint)
        if not self._is_sigmoid:
            scores = sigmoid(scores)
        return scores[rows].astype(np.float32)

    def _probe(self) -> NDArray[Any]:
        texts = torch_backend.PROBES
        return self._predict([(texts[1], text) for text in texts])

    def _predict(self, pairs: Pairs) -> NDArray[Any]:
        import torch

        def run(size: int) -> Any:
            return self.model.predict(
                pairs, batch_size=size, show_progress_bar=False, activation_fn=torch.nn.Identity()
            )

        return np.asarray(self._in_memory(run), np.float64).reshape(len(pairs))


class HttpReranker:
    """Rerank by a `/rerank` server at `url`: Cohere, Jina, Voyage, vLLM, text-embeddings-inference and the
    like.

    Neither `top_n` nor `top_k` is sent: each server refuses or ignores the other's name. Some servers answer
    with logits, which scores outside [0, 1] show. Then the sigmoid is applied to all scores of this call and
    of later calls. On probabilities it would press scores into [0.5, 0.73].
    """

    def __init__(
        self, url: str, model: str | None = None, key: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        self._end = Endpoint.check("the reranker", url, key, whole=URL, key_name="GSWGRAPH_RERANKER_KEY")
        self._model = model
        self.name = f"{model} at {self._end.host}" if model else self._end.host
        self._client = self._end.client(timeout, RETRIES)
        weakref.finalize(self, self._client.close)
        self._wants_texts = self._gives_logits = False  # once seen, for good

    def score(self, pairs: Pairs) -> Scores:
        """Return the relevance of each pair; see `Reranker.score`."""
        if not pairs:
            return np.empty(0, np.float32)
        distinct, rows = _distinct(pairs)
        places_of: dict[str, list[int]] = {}
        for place, (query, _) in enumerate(distinct):
            places_of.setdefault(query, []).append(place)
        scores = np.empty(len(distinct))

        def run(query: str) -> None:
            places = places_of[query]
            scores[places] = self._scores(query, [distinct[place][1] for place in places])

        for _ in map_unordered(run, places_of, min(THREADS, len(places_of))):
            pass
        if scores.min() < -ROUNDING or scores.max() > 1 + ROUNDING:
            self._gives_logits = True
        scores = sigmoid(scores) if self._gives_logits else scores.clip(0, 1)
        return scores[rows].astype(np.float32)

    def _scores(self, query: str, documents: list[str]) -> list[float]:
        """Return the scores of documents. Text-embeddings-inference calls them `texts`, and says so when it
        misses them."""
        import openai

        as_texts = self._wants_texts
        size = TEXTS if as_texts else DOCUMENTS
        scores: list[float] = []
        for start in range(0, len(documents), size):
            part = documents[start : start + size]
            body: Fields = {"query": query, "documents": part}
            if as_texts:
                body = {"query": query, "texts": part, "truncate": True}
            elif self._model:
                body["model"] = self._model
            try:
                reply = self._client.post(str(self._end.url), cast_to=str, body=body)
            except openai.OpenAIError as error:
                text = error.response.text if isinstance(error, openai.UnprocessableEntityError) else ""
                if not as_texts and re.search("[`'\"]texts[`'\"]", text):
                    self._wants_texts = True
                    return self._scores(query, documents)
                raise self._end.refusal(error, HINTS, CHECK) from None  # some servers repeat the key
            scores += self._read(reply, len(part))
        return scores

    def _read(self, reply: str, count: int) -> list[float]:
        """Return the scores in the order of the documents: one for each, or the reply is of no use."""
        try:
            results = json.loads(reply)
            if not isinstance(results, list):
                results = results.get("results", results.get("data"))
            name = "score" if results and "score" in results[0] else "relevance_score"
            scores = {result["index"]: float(result[name]) for result in results}
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            reason = self._end.short(f"{type(error).__name__}: {error}")
            raise self._end.error(f"the reranker's answer has no known form ({reason})", CHECK) from error
        complete = len(results) == count and scores.keys() == set(range(count))
        if not complete or not np.isfinite(list(scores.values())).all():
            raise self._end.error(f"the reranker did not give each of {count} documents one score", CHECK)
        return [scores[i] for i in range(count)]


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Map logits to [0, 1]; exact at both ends, so that the order is kept."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(logits, np.float64)))


def _distinct(pairs: Pairs) -> tuple[Pairs, list[int]]:
    """Return the distinct pairs, and for each given pair its row among them."""
    row: dict[tuple[str, str], int] = {}
    rows = [row.setdefault((encodable(query), encodable(document)), len(row)) for query, document in pairs]
    return list(row), rows


def _ends_in_sigmoid(name: str, model: Any) -> bool:
    """Tell whether scores in [0, 1] come out of the model itself. Raises ModelError for one that is no
    reranker."""
    kind = type(model.model).__name__
    made_as = model.config.architectures or []
    activation = type(model.activation_fn).__name__
    problem = ""
    # Another class is loaded all the same, with random numbers for what is missing.
    if kind.endswith("ForSequenceClassification") and kind not in made_as:
        problem = f"this is not a CrossEncoder: it was saved as {', '.join(made_as) or 'something else'}"
    elif model.num_labels != 1:
        problem = f"this model gives {model.num_labels} labels, not one relevance"
    elif activation not in ("Identity", "Sigmoid"):
        problem = f"the scores of this model end in {activation}, which is not known to give a relevance"
    if problem:
        raise ModelError(problem, where=name, hint=ONE_NUMBER)
    *_, last = model.children()
    return type(getattr(last, "activation_function", None)).__name__ == "Sigmoid"
