"""Beam search over paths of propositions, against exhaustive search on small graphs."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.propositions import Path, beam_search
from gsw_graph.ask.retrieve.recipes import PropositionRecipe


def search(vectors, question, linked, encode=None, **constants):  # type: ignore[no-untyped-def]
    """Search with these constants; without more of them no jumps, any coherence, no path embedded."""
    recipe = PropositionRecipe(**{"jumps": 0, "coherence": -1.0, "exact": 0, **constants})
    return beam_search(vectors, question, linked, recipe, encode)


def made(seed: int, size: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors, a question, and which propositions are linked."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(size, 6))
    question = rng.normal(size=6)
    upper = np.triu(rng.random((size, size)) < share, 1)
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit, (question / np.linalg.norm(question)).astype(np.float32), upper | upper.T


def worth(vectors: np.ndarray, question: np.ndarray, steps: tuple[int, ...]) -> float:
    mean = vectors[list(steps)].mean(axis=0)
    return float(mean @ question / np.linalg.norm(mean))


def every_path(vectors, question, linked, length, coherence=-1.0) -> dict[frozenset[int], float]:  # type: ignore[no-untyped-def]
    """All sets of propositions that can be walked one after the other, with their score."""
    found = {}
    for size in range(1, length + 1):
        for steps in permutations(range(len(vectors)), size):
            if all(linked[a, b] and vectors[a] @ vectors[b] >= coherence for a, b in pairwise(steps)):
                found[frozenset(steps)] = worth(vectors, question, steps)
    return found


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 7), share=st.floats(0, 1), length=st.integers(1, 4), coherence=st.sampled_from([-1.0, 0.0, 0.2]))
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed: int, size: int, share: float, length: int, coherence: float) -> None:
    vectors, question, linked = made(seed, size, share)
    truth = every_path(vectors, question, linked, length, coherence)
    _, paths = search(vectors, question, linked, width=5000, length=length, coherence=coherence, one_order=False)
    found = {frozenset(path.steps): path.score for path in paths}
    assert found.keys() == truth.keys()
    assert all(found[key] == pytest.approx(truth[key], abs=1e-5) for key in truth)
    assert paths[0].score == pytest.approx(max(truth.values()), abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), width=st.integers(1, 5))
def test_a_narrow_beam_finds_real_paths_and_never_better_ones(seed: int, width: int) -> None:
    vectors, question, linked = made(seed, 8, 0.4)
    truth = every_path(vectors, question, linked, 3)
    first, paths = search(vectors, question, linked, width=width, length=3)
    assert len(first) == width
    assert [path.score for path in first] == sorted((vectors @ question).tolist(), reverse=True)[:width]
    assert all(truth[frozenset(path.steps)] == pytest.approx(path.score, abs=1e-5) for path in paths)
    assert [path.score for path in paths] == sorted((path.score for path in paths), reverse=True)
    assert all(sum(len(path.steps) == size for path in paths) <= width for size in (1, 2, 3))


def test_jump_points_follow_propositions_they_share_nothing_with() -> None:
    vectors = np.eye(4, dtype=np.float32)
    question = np.array([0.6, 0.6, 0.4, 0.3], dtype=np.float32)
    question /= np.linalg.norm(question)
    nothing = np.zeros((4, 4), dtype=bool)
    _, alone = search(vectors, question, nothing, width=4, length=2)
    _, jumped = search(vectors, question, nothing, width=4, length=2, jumps=2)
    assert all(len(path.steps) == 1 for path in alone)
    assert set(jumped[0].steps) == {0, 1}
    assert {path.steps[-1] for path in jumped if len(path.steps) == 2} <= {0, 1}


def test_incoherent_steps_are_refused() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)
    question = np.array([0.8, 0.6], dtype=np.float32)
    _, paths = search(vectors, question, np.ones((3, 3), dtype=bool), width=9, length=2, coherence=0.3)
    pairs = {frozenset(path.steps) for path in paths if len(path.steps) == 2}
    assert pairs == {frozenset((0, 2)), frozenset((1, 2))}


def test_embedded_paths_replace_the_mean_where_there_are_more_than_the_beam_keeps() -> None:
    vectors, question, _ = made(1, 6, 1.0)
    everything = np.ones((6, 6), dtype=bool)
    asked: list[list[Path]] = []

    def encode(paths):  # type: ignore[no-untyped-def]
        asked.append(list(paths))
        return np.array([question if set(path.steps) == {4, 5} else -question for path in paths])

    _, paths = search(vectors, question, everything, width=2, length=2, exact=15, encode=encode)
    assert set(paths[0].steps) == {4, 5}
    assert paths[0].score == pytest.approx(1, abs=1e-6)
    assert len(asked) == 1
    assert len(asked[0]) <= 15


def test_one_order_keeps_the_first_of_two_orders() -> None:
    vectors, question, _ = made(2, 3, 1.0)
    everything = np.ones((3, 3), dtype=bool)
    for one_order, most in ((True, 3), (False, 6)):
        _, paths = search(vectors, question, everything, width=50, length=2, one_order=one_order)
        assert sum(len(path.steps) == 2 for path in paths) == most


def test_nothing_to_search() -> None:
    assert search(np.zeros((0, 3), np.float32), np.ones(3, np.float32), np.zeros((0, 0), bool), width=4, length=3) == ([], [])
    assert search(np.eye(1, dtype=np.float32), np.ones(1, np.float32), np.zeros((1, 1), bool), width=4, length=3, jumps=3)[1] == [Path((0,), 1.0)]
