"""Beam search over paths of propositions, against exhaustive search on small graphs."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.propositions import beam_search
from gsw_graph.ask.retrieve.recipes import PropositionRecipe


def search(vectors, question, linked, encode=None, **constants):
    """Search with these constants; without more of them no jumps, any coherence, no path embedded."""
    recipe = PropositionRecipe(**{"jumps": 0, "coherence": -1.0, "exact": 0, **constants})
    return beam_search(vectors, question, linked, recipe, encode)


def made(seed, size, share):
    """Vectors, a question, and which propositions are linked."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(size, 6))
    question = rng.normal(size=6)
    upper = np.triu(rng.random((size, size)) < share, 1)
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit, (question / np.linalg.norm(question)).astype(np.float32), upper | upper.T


def worth(vectors, question, steps):
    mean = vectors[list(steps)].mean(axis=0)
    return float(mean @ question / np.linalg.norm(mean))


def every_path(vectors, question, linked, length, coherence=-1.0):  # type: ignore[no-untyped-def]
    """All sets of propositions that can be walked one after the other, with their score."""
    found = {}
    for size in range(1, length + 1):
        for steps in permutations(range(len(vectors)), size):
            if all(linked[a, b] and vectors[a] @ vectors[b] >= coherence for a, b in pairwise(steps)):
                found[frozenset(steps)] = worth(vectors, question, steps)
    return found


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 7),
    share=st.floats(0, 1),
    length=st.integers(1, 4),
    coherence=st.sampled_from([-1.0, 0.0, 0.2]),
)
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed, size, share, length, coherence):
    vectors, question, linked = made(seed, size, share)
    truth = every_path(vectors, question, linked, length, coherence)
    _, paths = search(
        vectors, question, linked, width=5000, length=length, coherence=coherence, one_order=False
    )
    found = {frozenset(path.steps): path.score for path in paths}
    assert found.keys() == truth.keys()
    for key in truth:
        assert found[key] == pytest.approx(truth[key], abs=1e-5)
    assert paths[0].score == pytest.approx(max(truth.values()), abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), width=st.integers(1, 5))
def test_a_narrow_beam_finds_real_paths_and_never_better_ones(seed, width):
    vectors, question, linked = made(seed, 8, 0.4)
    truth = every_path(vectors, question, linked, 3)
    first, paths = search(vectors, question, linked, width=width, length=3)
    assert len(first) == width
    assert [path.score for path in first] == sorted((vectors @ question).tolist(), reverse=True)[:width]
    assert all(truth[frozenset(path.steps)] == pytest.approx(path.score, abs=1e-5) for path in paths)
    assert [path.score for path in paths] == sorted((path.score for path in paths), reverse=True)
    for size in (1, 2, 3):
        assert sum(len(path.steps) == size for path in paths) <= width
