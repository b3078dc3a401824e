"""The walk over names and passages, checked against other ways to the same numbers."""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from gsw_graph.ask.retrieve.names.graph import CONTAINMENT_WEIGHT, Neighbourhood, build
from gsw_graph.ask.retrieve.names.walk import Seeds, strongest_paths, walk
from gsw_graph.ask.retrieve.recipes import LinkedRecipe
from gsw_graph.store.reader import Neighbours
from gsw_graph.store.rows import TITLE_WEIGHT


def random_graph(rng, nodes, density=0.3):
    """Symmetric weights without an isolated node."""
    upper = np.triu(rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < density), 1)
    for node in range(nodes):
        other = (node + 1) % nodes
        upper[min(node, other), max(node, other)] += 0.01 + rng.random()
    return sparse.csr_array((upper + upper.T).astype(np.float32))


def random_seeds(rng, nodes, *, prefer=True):
    weight = rng.random(nodes) * (rng.random(nodes) < 0.3)
    weight[rng.integers(nodes)] += 0.1
    preference = np.exp(-3 * rng.random(nodes)) if prefer else np.ones(nodes)
    return Seeds((weight / weight.sum()).astype(np.float32), preference.astype(np.float32))


@pytest.mark.parametrize("seed", range(12))
def test_the_walk_is_a_personalised_pagerank(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(3, 60))
    edges = random_graph(rng, nodes)
    seeds = random_seeds(rng, nodes, prefer=False)
    restart = float(rng.uniform(0.1, 0.5))
    personal = dict(enumerate(seeds.weight.astype(float)))
    expected = nx.pagerank(
        nx.from_scipy_sparse_array(edges), 1 - restart, personal, max_iter=2000, tol=1e-12, weight="weight"
    )
    found = walk(edges, seeds, restart=restart, steps=400)
    # float32 carries 6e-8 of a weight; the steps shrink what earlier ones added to that by 1 - restart each
    np.testing.assert_allclose(found, [expected[n] for n in range(nodes)], atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(6))
def test_the_walk_with_preferences_is_the_formula_by_dense_matrices(seed):
    rng = np.random.default_rng(100 + seed)
    nodes = int(rng.integers(2, 40))
    edges = random_graph(rng, nodes)
    seeds = random_seeds(rng, nodes)
    steps = int(rng.integers(0, 20))
    steered = np.diag(seeds.preference.astype(float)) @ edges.toarray().astype(float)
    expected = seeds.weight.astype(float)
    for _ in range(steps):
        expected = 0.9 * steered @ (expected / steered.sum(axis=0)) + 0.1 * seeds.weight
    np.testing.assert_allclose(walk(edges, seeds, restart=0.1, steps=steps), expected, atol=1e-6, rtol=0)


def brute_force(edges, seeds, target, restart):
    """The best product of chances over all paths from a seed, by looking at each."""
    matrix = edges.toarray().astype(float)
    preference = seeds.preference.astype(float)
    steered = preference[:, None] * matrix
    chance = (1 - restart) * steered / steered.sum(axis=0)
    nodes = len(preference)
    best = 0.0
    best_path = []
    for length in range(nodes):
        for middle in itertools.permutations([n for n in range(nodes) if n != target], length):
            path = [*middle, target]
            value = float(seeds.weight[path[0]]) * math.prod(
                chance[b, a] for a, b in itertools.pairwise(path)
            )
            if value > best * (1 + 1e-6):
                best = value
                best_path = path
    return best, best_path, chance


@pytest.mark.parametrize("seed", range(10))
def test_the_strongest_path_is_the_best_of_all(seed):
    rng = np.random.default_rng(200 + seed)
    nodes = int(rng.integers(2, 7))
    edges = random_graph(rng, nodes)
    seeds = random_seeds(rng, nodes)
    for target, path in enumerate(strongest_paths(edges, seeds, range(nodes), restart=0.2)):
        best, expected, chance = brute_force(edges, seeds, target, 0.2)
        value = float(seeds.weight[path[0]]) * math.prod(chance[b, a] for a, b in itertools.pairwise(path))
        assert value == pytest.approx(best, rel=1e-4)
        assert path[-1] == target
        assert len(path) == len(expected)


ROWS = [
    ("p3", ["the bank of england museum", "england", "ana maria", "ana"], [1.0, 1.0, 1.0, 1.0]),
    ("p0", ["bank of england", "england", "ana"], [8.0, 1.0, 1.0]),
    ("p2", [], []),
    ("p1", ["england", "bank"], [1.0, 8.0]),
]


def test_the_weights_of_a_graph_by_hand():
    graph = build(ROWS)
    assert graph.passages == ["p0", "p1", "p2", "p3"], "whatever the order of the rows"
    assert graph.names == [
        "ana",
        "ana maria",
        "bank",
        "bank of england",
        "england",
        "p2",
        "the bank of england museum",
    ]
    assert graph.frequency.tolist() == [2, 1, 1, 1, 3, 1, 1]
    assert graph.titled.tolist() == [False, False, True, True, False, False, False]
    assert graph.is_artificial.tolist() == [name == "p2" for name in graph.names]
    once, twice, thrice = (math.sqrt(math.log(1 + 4 / pf) / math.log(5)) for pf in (1, 2, 3))
    assert TITLE_WEIGHT == 8
    assert CONTAINMENT_WEIGHT == 0.3  # as docs/linked.md has them
    expected = [
        [twice, 0, 0, 8 * once, thrice, 0, 0],
        [0, 0, 8 * once, 0, thrice, 0, 0],
        [0, 0, 0, 0, 0, once, 0],
        [twice, once, 0, 0, thrice, 0, once],
    ]
    np.testing.assert_allclose(graph.incidence.toarray(), expected, rtol=1e-6)
    assert graph.incidence.dtype == graph.edges.dtype == np.float32
    np.testing.assert_allclose(graph.edges.toarray()[:4, 4:], expected, rtol=1e-6)
    np.testing.assert_array_equal(graph.edges.toarray(), graph.edges.toarray().T)
    assert graph.passages_of(graph.name_numbers["ana"]).tolist() == [0, 3]
    assert [graph.names[n] for n in graph.names_of(1)] == ["england", "bank"]


def test_all_edges_are_both_blocks():
    graph = build(ROWS)
    up, aside = graph.incidence, graph.containment
    np.testing.assert_array_equal(
        graph.edges.toarray(), sparse.block_array([[None, up], [up.T, aside]]).toarray()
    )
    assert graph.edges.has_canonical_format


def test_a_name_contains_its_parts_of_two_words_or_more():
    longest = "a b c d e f g h i j k"  # of eleven words ten are looked at
    names = ["a b, c d", "a b", "c d", "b, c", "a", "e f g", "i j k", "a b c d e f g h i j", longest]
    graph = build([("p", names, [1.0] * len(names))])
    pairs = {(graph.names[a], graph.names[b]) for a, b in zip(*graph.containment.nonzero(), strict=True)}
    within = {("a b, c d", part) for part in ("a b", "c d", "b, c")}
    ten = "a b c d e f g h i j"
    within |= {(name, part) for name in (ten, longest) for part in ("a b", "c d", "e f g")}
    assert pairs == within | {(part, name) for name, part in within}


def test_passages_of_an_alias_count_for_its_name():
    passages = {"p": (["harbour", "quay"], [1.0, 1.0]), "q": (["port"], [1.0])}
    part = Neighbours(9, [[]], [], passages, {"harbour": 3}, {"harbour": "port", "quay": "port"}, [])
    reader = SimpleNamespace(neighbourhood=lambda *_, **__: part)
    context = SimpleNamespace(reader=reader, clock=lambda _: nullcontext())
    neighbourhood = Neighbourhood()
    neighbourhood.fetch(context, {"Where is it?": [1.0]}, LinkedRecipe().walk)
    graph = neighbourhood.graph
    assert dict(zip(graph.names, graph.frequency.tolist(), strict=True)) == {"port": 1 + 3 + 1}
    assert graph.name_numbers["quay"] == graph.name_numbers["port"]
