"""Reranking by a /rerank endpoint: Cohere, Jina, Voyage, vLLM, text-embeddings-inference and the like."""

from __future__ import annotations

import random
import re
import time
import weakref
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from gsw_graph.concurrency import map_unordered
from gsw_graph.errors import ModelError
from gsw_graph.models.endpoint import Endpoint, retry_after
from gsw_graph.models.rerank.reranker import distinct, sigmoid

TIMEOUT = 30.0  # seconds in which a connection or the next part of an answer must come
TRIES, BACKOFF, LONGEST_WAIT = (
    3,
    0.5,
    30.0,
)  # seconds, doubled with each try; that a server may ask us to wait
THREADS = 4
DOCUMENTS = 500  # in one request
TEXTS = 32  # in one request to text-embeddings-inference, which refuses more unless it was started otherwise
SLACK = 1e-3  # a score this far outside [0, 1] is rounding
WHOLE = "Give the whole url in GSWGRAPH_RERANKER, such as https://host/v1/rerank"
HINTS = {
    **dict.fromkeys((401, 403), "Check GSWGRAPH_RERANKER_KEY"),
    404: f"{WHOLE}, and a model that is there in GSWGRAPH_RERANKER_MODEL",
    429: "Wait, or ask for a higher limit",
}
OTHERWISE = "Check GSWGRAPH_RERANKER and GSWGRAPH_RERANKER_MODEL, or do without: GSWGRAPH_RERANKER=cosine"


class HttpReranker:
    """A /rerank endpoint at `url`, used as given. Raises ModelError.

    Neither `top_n` nor `top_k` is sent: each server refuses or ignores the other's name. Some servers answer
    with logits; that shows in scores outside [0, 1], and then the sigmoid is taken of all scores of that call
    and of every later call. Taken of probabilities it would press them into [0.5, 0.73].
    """

    def __init__(
        self, url: str, model: str | None = None, key: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        self._end = Endpoint.check("the reranker", url, key, whole=WHOLE, key_name="GSWGRAPH_RERANKER_KEY")
        self._model = model
        self.name = f"{model} at {self._end.host}" if model else self._end.host
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {self._end.key}"} if self._end.key else {},
            timeout=timeout,
            trust_env=not self._end.here,  # no proxy must see what is meant for this machine
        )
        weakref.finalize(self, self._client.close)
        self._wants_texts = self._gives_logits = False  # once seen, for good

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the relevance in [0, 1] of each document to its query, in the order given.

        Raises:
            ModelError: the endpoint fails.
        """
        if not pairs:
            return np.empty(0, np.float32)
        different, places = distinct(pairs)
        rows: dict[str, list[int]] = {}
        for row, (query, _) in enumerate(different):
            rows.setdefault(query, []).append(row)
        jobs = [
            (query, some[start : start + DOCUMENTS])
            for query, some in rows.items()
            for start in range(0, len(some), DOCUMENTS)
        ]
        raw = np.empty(len(different))

        def run(job: tuple[str, list[int]]) -> None:
            raw[job[1]] = self._scores(job[0], [different[row][1] for row in job[1]])

        for _ in map_unordered(run, jobs, min(THREADS, len(jobs))):
            pass
        self._gives_logits |= bool(raw.min() < -SLACK or raw.max() > 1 + SLACK)
        return (sigmoid(raw) if self._gives_logits else raw.clip(0, 1))[places].astype(np.float32)

    def _scores(self, query: str, documents: list[str]) -> list[float]:
        """Return the scores of the documents. Text-embeddings-inference calls them `texts`, and says so when
        it misses them."""
        if not self._wants_texts:
            reply = self._post(
                {"query": query, "documents": documents} | ({"model": self._model} if self._model else {})
            )
            if not (reply.status_code == 422 and re.search("[`'\"]texts[`'\"]", reply.text)):
                return self._read(reply, len(documents))
            self._wants_texts = True
        parts = [documents[start : start + TEXTS] for start in range(0, len(documents), TEXTS)]
        replies = (self._post({"query": query, "texts": part, "truncate": True}) for part in parts)
        return [
            score
            for part, reply in zip(parts, replies, strict=True)
            for score in self._read(reply, len(part))
        ]

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        """Return the server's answer, whatever it is; asked again where that may help."""
        for left in reversed(range(TRIES)):
            wait = BACKOFF * 2 ** (TRIES - 1 - left)
            try:
                reply = self._client.post(self._end.url, json=body)
            except httpx.RequestError as error:
                if not left:
                    late = isinstance(error, httpx.TimeoutException)
                    why = (
                        "did not answer in time"
                        if late
                        else f"cannot be reached ({self._end.short(str(error))})"
                    )
                    hint = "Check that it runs, and GSWGRAPH_RERANKER"
                    raise self._error(f"the reranker {why}, {TRIES} times", hint) from error
            else:
                wait = max(wait, retry_after(reply.headers))
                if not left or wait > LONGEST_WAIT or (reply.status_code != 429 and reply.status_code < 500):
                    break
            time.sleep(wait * random.uniform(1, 1.25))  # noqa: S311
        return reply

    def _read(self, reply: httpx.Response, count: int) -> list[float]:
        """Return the scores in the order of the documents: one for each, or the answer is of no use."""
        if reply.status_code != 200:
            what = f"the reranker answered {reply.status_code} {reply.reason_phrase}"
            detail = self._end.short(reply.text)
            raise self._error(
                f"{what}: {detail}" if detail else what, HINTS.get(reply.status_code, OTHERWISE)
            )
        try:
            body = reply.json()
            results = (
                body if isinstance(body, list) else body["results"] if "results" in body else body["data"]
            )
            scores = {
                entry["index"]: float(
                    entry["relevance_score"] if "relevance_score" in entry else entry["score"]
                )
                for entry in results
            }
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            what = self._end.short(f"{type(error).__name__}: {error}")
            raise self._error(f"the reranker's answer has no known form ({what})", OTHERWISE) from error
        complete = len(results) == count and scores.keys() == set(range(count))
        if not complete or not np.isfinite(list(scores.values())).all():
            raise self._error(f"the reranker did not give each of {count} documents one score", OTHERWISE)
        return [scores[i] for i in range(count)]

    def _error(self, message: str, hint: str) -> ModelError:
        return ModelError(message, where=self._end.host, hint=hint)
