"""Embeddings and relevance without a model: made from the words of a text, so that texts which share words
are near each other."""

from __future__ import annotations

import base64
import math
import random
import re
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gsw_graph.testing.listener import Answer, error
from gsw_graph.testing.tokens import count

_WORD = re.compile(r"\w+")


def embeddings(body: Mapping[str, Any], dimension: int) -> Answer:
    """`POST /v1/embeddings`: a unit vector for each text, of `dimensions` as asked for, else of
    `dimension`; as floats or base64."""
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts:
        return error(400, "'input' must be a string or an array of strings or tokens", param="input")
    if all(isinstance(token, int) for token in texts):
        texts = [texts]
    said = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
    size = body.get("dimensions") or dimension
    vectors = [vector(text, size) for text in said]
    coded = (
        [base64.b64encode(struct.pack(f"<{size}f", *v)).decode() for v in vectors]
        if body.get("encoding_format") == "base64"
        else vectors
    )
    data = [{"object": "embedding", "index": index, "embedding": value} for index, value in enumerate(coded)]
    tokens = sum(map(count, said))
    return Answer(
        content={
            "object": "list",
            "data": data,
            "model": body.get("model"),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


def vector(text: str, dimension: int) -> list[float]:
    """Of length 1: the sum of a random direction for each word, the same for the same word everywhere."""
    words = [_direction(word, dimension) for word in _WORD.findall(text.casefold())] or [
        _direction("", dimension)
    ]
    total = [math.fsum(parts) for parts in zip(*words, strict=True)]
    length = math.hypot(*total)
    return [part / length for part in total]


@lru_cache(maxsize=50_000)
def _direction(word: str, dimension: int) -> tuple[float, ...]:
    source = random.Random(word)  # noqa: S311 - the same in every process, as a hash of the text seeds it
    return tuple(source.gauss(0, 1) for _ in range(dimension))


def rerank(body: Mapping[str, Any]) -> Answer:
    """`POST /v1/rerank` as Cohere and Jina have it: the score of a document is the share of the query's
    words that stand in it."""
    query, documents = body.get("query"), body.get("documents")
    if not isinstance(query, str) or not isinstance(documents, list) or not documents:
        return error(400, "'query' must be a string and 'documents' an array", param="documents")
    texts = [
        str(document.get("text", "")) if isinstance(document, Mapping) else str(document)
        for document in documents
    ]
    words = set(_WORD.findall(query.casefold()))
    scores = [len(words.intersection(_WORD.findall(text.casefold()))) / max(1, len(words)) for text in texts]
    order = sorted(range(len(texts)), key=lambda index: -scores[index])[: body.get("top_n") or len(texts)]
    results: list[dict[str, Any]] = [{"index": index, "relevance_score": scores[index]} for index in order]
    if body.get("return_documents"):
        results = [{**result, "document": {"text": texts[result["index"]]}} for result in results]
    return Answer(
        content={
            "id": "rerank-1",
            "model": body.get("model"),
            "results": results,
            "usage": {"total_tokens": count(query) + sum(map(count, texts))},
        }
    )
