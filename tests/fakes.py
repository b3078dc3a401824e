"""Stand-ins that make tests fast: an embedder without a model."""

from __future__ import annotations

import re
import zlib

import numpy as np
import pytest

from gsw_graph.models.embed.embedder import Embedder

DIMENSION = 64


class BagOfWords:
    """A hashed bag of words, the same on every machine: texts that share words are near each other."""

    backend = "fake"
    device = "cpu"
    dimension = DIMENSION

    def encode(self, texts, *, query):
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            vector[0] = 0.1  # no vector is zero
            for word in re.findall(r"\w+", text.lower()):
                code = zlib.crc32(word.encode())
                vector[1 + code % (DIMENSION - 1)] += 1 if code & 1 << 20 else -1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def embedder(settings):
    """The fake, under the name that the settings ask for."""
    return Embedder(settings.embedder, BagOfWords())


@pytest.fixture
def fake_embedder(monkeypatch):
    """No model is loaded by any Memory."""
    monkeypatch.setattr(Embedder, "load", staticmethod(embedder))
