"""Personalised PageRank against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gsw_graph.retrieve.names import pagerank


def random_graph(seed: int, nodes: int, edges: int) -> sparse.csr_array:
    """Symmetric weights in (0, 3), no loops; some nodes may have no edge."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)
    weights = rng.uniform(0.01, 3, edges)
    kept = one != other
    half = sparse.coo_array((weights[kept], (one[kept], other[kept])), shape=(nodes, nodes)).tocsr()
    return sparse.csr_array(half + half.T)


def reference(edges: sparse.csr_array, reset: np.ndarray, damping: float) -> np.ndarray:
    graph = networkx.from_scipy_sparse_array(edges)
    found = networkx.pagerank(graph, alpha=damping, personalization=dict(enumerate(reset.tolist())), tol=1e-12, max_iter=1000)
    return np.array([found[node] for node in range(edges.shape[0])])


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 60), density=st.floats(0, 4), damping=st.sampled_from([0.45, 0.75, 0.9]))
def test_equals_networkx_on_random_graphs(seed: int, nodes: int, density: float, damping: float) -> None:
    edges = random_graph(seed, nodes, int(nodes * density))
    rng = np.random.default_rng(seed + 1)
    reset = np.where(rng.random(nodes) < 0.3, rng.random(nodes), 0.0)
    reset[seed % nodes] += 0.5
    found = pagerank.pagerank(edges, reset, damping, tolerance=1e-10)
    assert np.abs(found - reference(edges, reset, damping)).max() < 1e-6
    assert found.sum() == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("damping", [0.45, 0.75, 0.9])
def test_single_precision_and_its_tolerance_are_good_to_a_millionth(damping: float) -> None:
    edges = random_graph(3, 400, 1500)
    reset = np.zeros(400)
    reset[[3, 7, 250]] = (1, 2, 1)
    found = pagerank.pagerank(edges.astype(np.float32), reset, damping)
    assert found.dtype == np.float32
    assert np.abs(found - reference(edges, reset, damping)).max() < 1e-6


@pytest.mark.parametrize(("processors", "nodes"), [(2, 50), (3, 400), (7, 5)])
def test_several_threads_find_the_same(monkeypatch: pytest.MonkeyPatch, processors: int, nodes: int) -> None:
    edges = random_graph(9, nodes, 4 * nodes)
    reset = np.arange(nodes, dtype=np.float64)
    one = pagerank.pagerank(edges, reset, 0.75, tolerance=1e-10)
    monkeypatch.setattr(pagerank, "_SHARE", 1)
    monkeypatch.setattr(pagerank.os, "cpu_count", lambda: processors)
    with pagerank._product(edges) as product:
        assert product.__name__ == "<lambda>", "in threads"
    assert pagerank.pagerank(edges, reset, 0.75, tolerance=1e-10) == pytest.approx(one, abs=1e-12)


def test_it_takes_few_steps() -> None:
    """The plain iteration errs by 8e-4 after twelve."""
    edges = random_graph(3, 400, 1500)
    reset = np.zeros(400)
    reset[[3, 7, 250]] = (1, 2, 1)
    found = pagerank.pagerank(edges, reset, 0.75, steps=12)
    assert np.abs(found - reference(edges, reset, 0.75)).sum() < 2e-4


def test_an_isolated_seed_keeps_its_weight_and_others_get_none() -> None:
    edges = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float64))
    assert pagerank.pagerank(edges, np.array([0.0, 0.0, 2.0]), 0.75) == pytest.approx([0, 0, 1])


def test_preference_steers_the_flow() -> None:
    """From the middle of a star two leaves get the same; what is preferred gets in proportion."""
    edges = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=np.float64))
    reset = np.array([1.0, 0.0, 0.0])
    plain = pagerank.pagerank(edges, reset, 0.75, tolerance=1e-12)
    steered = pagerank.pagerank(edges, reset, 0.75, preference=np.array([1.0, 3.0, 1.0]), tolerance=1e-12)
    assert plain[1] == pytest.approx(plain[2])
    assert steered[1] == pytest.approx(3 * steered[2])
    assert steered.sum() == pytest.approx(1)


def test_the_scale_of_the_reset_does_not_matter_and_steps_end_it() -> None:
    edges = random_graph(5, 30, 80)
    reset = np.arange(30, dtype=np.float64)
    assert np.array_equal(pagerank.pagerank(edges, reset, 0.75), pagerank.pagerank(edges, reset * 4, 0.75))
    once = pagerank.pagerank(edges, reset, 0.75, steps=1)
    assert np.abs(once - pagerank.pagerank(edges, reset, 0.75)).max() > 1e-6
