"""How well documents answer queries: the reranker that the settings name, and what every reranker needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gsw_graph.config import Settings

COSINE = "cosine"


class Reranker(Protocol):
    """Gives pairs of a query and a document a score. `name` is for traces and holds no secret. Safe to use
    from several threads."""

    name: str

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Relevance in [0, 1] of each document to its query, in the order given; pairs of (query, document).
        Empty in, empty out.

        Raises ModelError.
        """


def load(settings: Settings) -> Reranker | None:
    """The reranker that the settings name; None for `cosine`, where the embedder's vectors are compared.
    Raises ModelError, InputError (device)."""
    name = settings.reranker
    if name == COSINE:
        return None
    if name.lower().startswith(("http://", "https://")):
        from gsw_graph.models.rerank.http_reranker import HttpReranker

        return HttpReranker(name, settings.reranker_model, settings.reranker_key)
    from gsw_graph.models.rerank.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(name, settings.device, trust=settings.trust_remote_code)


def distinct(pairs: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], NDArray[np.intp]]:
    """The different pairs, with `?` for what UTF-8 cannot hold, and for each given pair its place among
    them."""
    place: dict[tuple[str, str], int] = {}
    places = [place.setdefault((_clean(query), _clean(document)), len(place)) for query, document in pairs]
    return list(place), np.asarray(places, np.intp)


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Logits to [0, 1]; exact at both ends, so that the order is kept."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(logits, np.float64)))


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
