"""The walk over names and passages, checked against other ways to the same numbers."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gsw_graph.ask.retrieve.names.graph import CONTAINMENT_WEIGHT, build
from gsw_graph.ask.retrieve.names.walk import Seeds, rank_passages, seed, strongest_paths, walk
from gsw_graph.ask.retrieve.recipes import WalkRecipe
from gsw_graph.store.rows import TITLE_WEIGHT
from gsw_graph.text.names import normalise


def walked(memory, question, near, k, *, trace=False, **constants):
    """The best passages by a recipe with these constants."""
    return rank_passages(memory, [(question, near)], k, WalkRecipe(**constants), trace=trace)


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
    edges, seeds, restart = random_graph(rng, nodes), random_seeds(rng, nodes, prefer=False), float(rng.uniform(0.1, 0.5))
    personal = dict(enumerate(seeds.weight.astype(float)))
    expected = nx.pagerank(nx.from_scipy_sparse_array(edges), 1 - restart, personal, max_iter=2000, tol=1e-12, weight="weight")
    found = walk(edges, seeds, restart=restart, steps=400)
    # float32 carries 6e-8 of a weight; the steps shrink what earlier ones added to that by 1 - restart each
    np.testing.assert_allclose(found, [expected[n] for n in range(nodes)], atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(6))
def test_the_walk_with_preferences_is_the_formula_by_dense_matrices(seed):
    rng = np.random.default_rng(100 + seed)
    nodes = int(rng.integers(2, 40))
    edges, seeds, steps = random_graph(rng, nodes), random_seeds(rng, nodes), int(rng.integers(0, 20))
    steered = np.diag(seeds.preference.astype(float)) @ edges.toarray().astype(float)
    expected = seeds.weight.astype(float)
    for _ in range(steps):
        expected = 0.9 * steered @ (expected / steered.sum(axis=0)) + 0.1 * seeds.weight
    np.testing.assert_allclose(walk(edges, seeds, restart=0.1, steps=steps), expected, atol=1e-6, rtol=0)


@given(st.integers(0, 2**32 - 1), st.integers(2, 50), st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_no_weight_is_lost_or_made(seed, nodes, steps):
    rng = np.random.default_rng(seed)
    weights = walk(random_graph(rng, nodes), random_seeds(rng, nodes), restart=0.1, steps=steps)
    assert weights.dtype == np.float32
    assert weights.min() >= 0
    assert math.isclose(float(weights.sum(dtype=float)), 1, abs_tol=1e-5)


def brute_force(edges, seeds, target, restart):
    """The best product of chances over all paths from a seed, by looking at each."""
    matrix, preference = edges.toarray().astype(float), seeds.preference.astype(float)
    steered = preference[:, None] * matrix
    chance = (1 - restart) * steered / steered.sum(axis=0)
    nodes = len(preference)
    best, best_path = 0.0, []
    for length in range(nodes):
        for middle in itertools.permutations([n for n in range(nodes) if n != target], length):
            path = [*middle, target]
            value = float(seeds.weight[path[0]]) * math.prod(chance[b, a] for a, b in itertools.pairwise(path))
            if value > best * (1 + 1e-6):
                best, best_path = value, path
    return best, best_path, chance


@pytest.mark.parametrize("seed", range(10))
def test_the_strongest_path_is_the_best_of_all(seed):
    rng = np.random.default_rng(200 + seed)
    nodes = int(rng.integers(2, 7))
    edges, seeds = random_graph(rng, nodes), random_seeds(rng, nodes)
    for target, path in enumerate(strongest_paths(edges, seeds, range(nodes), restart=0.2)):
        best, expected, chance = brute_force(edges, seeds, target, 0.2)
        value = float(seeds.weight[path[0]]) * math.prod(chance[b, a] for a, b in itertools.pairwise(path))
        assert value == pytest.approx(best, rel=1e-4)
        assert path[-1] == target
        assert len(path) == len(expected)


def test_no_path_leads_to_another_component():
    edges = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], np.float32))
    seeds = Seeds(np.array([1, 0, 0, 0], np.float32), np.ones(4, np.float32))
    assert strongest_paths(edges, seeds, [0, 1, 2, 3], restart=0.1) == [[0], [0, 1], [], []]


ROWS = [
    ("p3", ["the bank of england museum", "england", "ana maria", "ana"], [1.0, 1.0, 1.0, 1.0]),
    ("p0", ["bank of england", "england", "ana"], [8.0, 1.0, 1.0]),
    ("p2", [], []),
    ("p1", ["england", "bank"], [1.0, 8.0]),
]


def test_the_weights_of_a_graph_by_hand() -> None:
    graph = build(ROWS)
    assert graph.passages == ["p0", "p1", "p2", "p3"], "whatever the order of the rows"
    assert graph.names == ["ana", "ana maria", "bank", "bank of england", "england", "p2", "the bank of england museum"]
    assert graph.frequency.tolist() == [2, 1, 1, 1, 3, 1, 1]
    assert graph.titled.tolist() == [False, False, True, True, False, False, False]
    assert graph.nameless.tolist() == [name == "p2" for name in graph.names]
    once, twice, thrice = (math.sqrt(math.log(1 + 4 / pf) / math.log(5)) for pf in (1, 2, 3))
    assert (TITLE_WEIGHT, CONTAINMENT_WEIGHT) == (8, 0.3)  # as docs/linked.md has them
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


def test_a_part_of_a_graph_weighs_as_the_whole_does() -> None:
    whole, part = build(ROWS), build(ROWS[1:2], total=4, frequency={"bank of england": 1, "england": 3, "ana": 2, "not here": 9})
    there = [whole.name_numbers[name] for name in part.names]
    np.testing.assert_array_equal(part.incidence.toarray(), whole.incidence.toarray()[:1, there])
    assert part.frequency.tolist() == [2, 1, 3]


def test_an_empty_graph() -> None:
    assert walked(build([]), "Who is Ana?", [("p", 0.5)], 3).passages == []


def test_a_passage_without_names_competes_by_its_vector() -> None:
    """It is found where it is nearest, below one with names that is nearer, and never leads elsewhere."""
    graph = build([("key", [], []), ("a", ["ana", "bo"], [8.0, 1.0]), ("b", ["bo"], [1.0])])
    near = [("key", 0.8), ("a", 0.4), ("b", 0.35)]
    found = walked(graph, "where is the key to the boiler room?", near, 3, trace=True)
    assert found.passages[0] == "key"
    assert "key" not in dict(found.seeds), "people see names alone"
    assert walked(graph, "where is it?", [("a", 0.8), ("key", 0.5)], 3).passages[0] == "a"
    assert walked(graph, "Where is Bo?", near[:1], 3).passages[0] != "key", "a name of the question says more"


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["new york", "new york city"], [(0, 1)]),
        (["york city", "new york city", "new york"], [(0, 1), (1, 2)]),
        (["york", "new york"], []),  # a shorter name of one word says too little
        (["new york city", "new york city hall", "city hall"], [(0, 1), (1, 2)]),
        (["new york", "newer york city", "renew york"], []),  # whole words only
        (["springfield, illinois", "old springfield, illinois town"], [(0, 1)]),
        (["a b c", "b c", "c d", "a b c d"], [(0, 1), (0, 3), (1, 3), (2, 3)]),
        (["lower farthing", "of lower farthing, west"], [(0, 1)]),  # a comma at the end of the shorter
        (["new york new york", "new york"], [(0, 1)]),  # twice in it, and linked once
    ],
)
def test_containment_by_hand(names, pairs):
    found = build([("p", names, [1.0] * len(names))])
    names_of, found = found.names, found.containment
    pairs = [(names_of.index(names[a]), names_of.index(names[b])) for a, b in pairs]
    assert set(zip(*map(list, found.nonzero()), strict=True)) == {*pairs, *((b, a) for a, b in pairs)}
    assert set(found.data.tolist()) <= {np.float32(CONTAINMENT_WEIGHT)}


NAMES = [normalise(f"{a} {b}") for a in "Ana Bo Cy Dee".split() for b in "North South Hall Rock Pier".split()] + ["ana", "rock", "pier"]


def random_memory(rng, passages=40):
    rows = []
    for number in range(passages):
        chosen = rng.choice(len(NAMES), size=int(rng.integers(1, 6)), replace=False)
        rows.append((f"p{number}", [NAMES[n] for n in chosen], [8.0 if rng.random() < 0.1 else 1.0 for _ in chosen]))
    near = sorted(((f"p{n}", float(rng.uniform(0.1, 0.8))) for n in rng.choice(passages, 10, replace=False)), key=lambda item: -item[1])
    return build(rows), near


def test_without_seeds_nothing_is_found():
    memory, _ = random_memory(np.random.default_rng(1))
    found = walked(memory, "what is this?", [], 5, trace=True)
    assert (found.passages, found.scores, found.mentions, found.paths) == ([], [], [], [])


def test_the_seeds_sum_to_one_and_favour_titles():
    memory = build([("p0", ["ana", "bo"], [8.0, 1.0]), ("p1", ["cy"], [1.0])])
    seeds = seed(memory, [("p0", 0.8), ("p1", 0.4)], ["ana", "bo"], WalkRecipe())
    assert seeds.weight.sum() == pytest.approx(1)
    assert seeds.preference.tolist()[0] == 1
    assert seeds.preference[1] == pytest.approx(math.exp(-3 * 0.4))
    assert seeds.preference[2:].tolist() == [1, 1, 1]
    names = seeds.weight[2:] / seeds.weight[2:].sum()
    best, second = 1.0, math.exp(20 * (0.4 - 0.8))  # names of the best passages, all of frequency 1
    of_passages = np.array([best, best, second]) / (2 * best + second)
    np.testing.assert_allclose(names, (of_passages + 4 * np.array([0.75, 0.25, 0])) / 5, rtol=1e-4)
    assert seeds.weight[:2].sum() / seeds.weight[2:].sum() == pytest.approx(0.2, rel=1e-4)
