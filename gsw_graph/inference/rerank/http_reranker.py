"""Reranking by a /rerank endpoint: Cohere, Jina, Voyage, vLLM, text-embeddings-inference and what speaks
like one of them."""

from __future__ import annotations

import logging
import queue
import random
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import ModelError
from gsw_graph.inference.endpoint import Endpoint, retry_after
from gsw_graph.inference.rerank.reranker import distinct, sigmoid

log = logging.getLogger(__name__)

TIMEOUT = 30.0  # seconds in which a connection or the next part of an answer must come
TRIES = 3
BACKOFF = 0.5  # seconds, doubled with each try
LONGEST_WAIT = 30.0  # seconds that a server may ask us to wait
THREADS = 4
DOCUMENTS = 500  # in one request
TEXTS = 32  # in one request to text-embeddings-inference, which refuses more unless it was started otherwise
SLACK = 1e-3  # a score this far outside [0, 1] is rounding

WHOLE = "Give the whole url in GSWGRAPH_RERANKER, such as https://host/v1/rerank"
HINTS = {
    401: "Check GSWGRAPH_RERANKER_KEY",
    403: "Check GSWGRAPH_RERANKER_KEY",
    404: f"{WHOLE}, and a model that is there in GSWGRAPH_RERANKER_MODEL",
    429: "Wait, or ask for a higher limit",
}
OTHERWISE = "Check GSWGRAPH_RERANKER and GSWGRAPH_RERANKER_MODEL, or do without: GSWGRAPH_RERANKER=cosine"


class HttpReranker:
    """A /rerank endpoint at `url`, used as given. Raises ModelError.

    Neither `top_n` nor `top_k` is sent: all servers answer for every document without it, and each refuses or
    ignores the name of the other.

    Some servers answer with logits. That shows in scores outside [0, 1], and then the sigmoid is taken of all
    scores of this reranker: of the whole call, whichever query gave it away, and of every later call, also
    where all lie inside. A sigmoid of what is a probability already would press it into [0.5, 0.73], so none
    is taken before. What remains: calls before the first such score, each of few documents that all lie in
    [0, 1] by chance, were given back as they came.
    """

    def __init__(
        self, url: str, model: str | None = None, key: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        self._end = Endpoint.check("the reranker", url, key, whole=WHOLE, key_name="GSWGRAPH_RERANKER_KEY")
        self._model, self._url = model, self._end.url
        self.name = f"{model} at {self._end.host}" if model else self._end.host
        headers = {"Authorization": f"Bearer {self._end.key}"} if self._end.key else {}
        # trust_env: a proxy named in the environment must not see what is meant for this machine.
        self._client = httpx.Client(
            headers=headers,
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._end.here,
        )
        weakref.finalize(self, self._client.close)
        self._wants_texts = self._gives_logits = False  # once seen, for good

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Relevance in [0, 1] of each document to its query, in the order given. Raises ModelError."""
        if not pairs:
            return np.empty(0, np.float32)
        different, places = distinct(pairs)
        rows: dict[str, list[int]] = {}
        for row, (query, _) in enumerate(different):
            rows.setdefault(query, []).append(row)
        size = TEXTS if self._wants_texts else DOCUMENTS
        jobs = [
            (query, of[start : start + size])
            for query, of in rows.items()
            for start in range(0, len(of), size)
        ]
        raw = np.empty(len(different))
        for of, scores in self._answers(
            [(of, query, [different[row][1] for row in of]) for query, of in jobs]
        ):
            raw[of] = scores
        if not self._gives_logits and (raw.min() < -SLACK or raw.max() > 1 + SLACK):
            self._gives_logits = True
            log.info("%s gives scores outside [0, 1]: taken as logits from now on", self.name)
        return (sigmoid(raw) if self._gives_logits else raw.clip(0, 1))[places].astype(np.float32)

    def _answers(
        self, jobs: list[tuple[list[int], str, list[str]]]
    ) -> Iterator[tuple[list[int], list[float]]]:
        """The rows of each job with their scores, as they come. In threads of our own: those of an executor
        would keep an interrupted program alive until the last reply."""
        left = deque(jobs)
        replies: queue.SimpleQueue[tuple[list[int], list[float] | BaseException]] = queue.SimpleQueue()

        def work() -> None:
            with suppress(IndexError):
                while True:
                    of, query, documents = left.popleft()
                    try:
                        replies.put((of, self._ask(query, documents)))
                    except BaseException as error:  # raised in the thread that waits
                        replies.put((of, error))

        for _ in range(min(THREADS, len(jobs))):
            threading.Thread(target=work, name="gswgraph-rerank", daemon=True).start()
        try:
            for _ in jobs:
                of, found = replies.get()
                if isinstance(found, BaseException):
                    raise found
                yield of, found
        finally:
            left.clear()

    def _ask(self, query: str, documents: list[str]) -> list[float]:
        """The scores of the documents. Text-embeddings-inference calls them `texts`, and says so when it
        misses them."""
        if not self._wants_texts:
            body = {"query": query, "documents": documents} | ({"model": self._model} if self._model else {})
            reply = self._post(body)
            if not (reply.status_code == 422 and re.search("[`'\"]texts[`'\"]", reply.text)):
                return self._read(reply, len(documents))
            self._wants_texts = True
        parts = [documents[start : start + TEXTS] for start in range(0, len(documents), TEXTS)]
        return [
            score
            for part in parts
            for score in self._read(self._post({"query": query, "texts": part, "truncate": True}), len(part))
        ]

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        """The server's answer, whatever it is; asked again where that may help."""
        for left in reversed(range(TRIES)):
            wait = BACKOFF * 2 ** (TRIES - 1 - left)
            try:
                reply = self._client.post(self._url, json=body)
            except httpx.RequestError as error:
                if not left:
                    why = (
                        "did not answer in time"
                        if isinstance(error, httpx.TimeoutException)
                        else f"cannot be asked ({self._end.short(str(error))})"
                    )
                    raise self._error(
                        f"the reranker {why}, {TRIES} times", "Check that it runs, and GSWGRAPH_RERANKER"
                    ) from error
            else:
                wait = max(wait, retry_after(reply.headers))
                if not left or wait > LONGEST_WAIT or (reply.status_code != 429 and reply.status_code < 500):
                    break
            time.sleep(wait * random.uniform(1, 1.25))  # noqa: S311
        return reply

    def _read(self, reply: httpx.Response, count: int) -> list[float]:
        """The scores in the order of the documents: one for each, or the answer is of no use."""
        if reply.status_code != 200:
            what = f"the reranker answered {reply.status_code} {reply.reason_phrase}"
            raise self._error(
                f"{what}: {said}" if (said := self._end.short(reply.text)) else what,
                HINTS.get(reply.status_code, OTHERWISE),
            )
        try:
            found = reply.json()
            results = (
                found
                if isinstance(found, list)
                else found["results"]
                if "results" in found
                else found["data"]
            )
            scores = {
                result["index"]: float(
                    result["relevance_score"] if "relevance_score" in result else result["score"]
                )
                for result in results
            }
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            what = self._end.short(f"{type(error).__name__}: {error}")
            raise self._error(f"the reranker's answer is none that is known ({what})", OTHERWISE) from error
        if (
            len(results) != count
            or scores.keys() != set(range(count))
            or not np.isfinite(list(scores.values())).all()
        ):
            raise self._error(f"the reranker did not give each of {count} documents one score", OTHERWISE)
        return [scores[i] for i in range(count)]

    def _error(self, message: str, hint: str) -> ModelError:
        return ModelError(message, where=self._end.host, hint=hint)
