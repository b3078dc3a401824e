"""The walk over names and passages, checked against other ways to the same numbers."""

from __future__ import annotations

import itertools
import math
import zipfile
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gsw_graph.names import normalise
from gsw_graph.retrieve.names.cache import files
from gsw_graph.retrieve.names.graph import CONTAINMENT_WEIGHT, TITLE_WEIGHT, build
from gsw_graph.retrieve.names.passages import best_passages, best_together, seed
from gsw_graph.retrieve.names.walk import Seeds, strongest_paths, walk
from gsw_graph.retrieve.recipes import WalkRecipe


def walked(memory, question, near, k, *, trace=False, **constants):
    """The best passages by a recipe with these constants."""
    return best_passages(memory, question, near, k, WalkRecipe(**constants), trace=trace)


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


def test_a_node_without_edges_keeps_to_itself():
    edges = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.float32))
    weights = walk(edges, Seeds(np.array([0.5, 0, 0.5], np.float32), np.ones(3, np.float32)), restart=0.1, steps=200)
    assert weights[2] == pytest.approx(0.05)
    assert weights[:2].sum() == pytest.approx(0.5, abs=1e-5)


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
    ("p0", ["bank of england", "england", "ana"], [True, None, False]),
    ("p1", ["england", "bank"], [False, True]),
    ("p2", [], []),
    ("p3", ["the bank of england museum", "england", "ana maria", "ana"], [None, None, None, None]),
]


def test_the_weights_of_a_graph_by_hand():
    built = build(ROWS)
    assert built.passages == ["p0", "p1", "p2", "p3"]
    assert built.names == ["bank of england", "england", "ana", "bank", "the bank of england museum", "ana maria"]
    graph = built.matrices
    assert graph.size == 4
    assert graph.frequency.tolist() == [1, 3, 2, 1, 1, 1]
    assert graph.titled.tolist() == [True, False, False, True, False, False]
    once, twice, thrice = (math.sqrt(math.log(1 + 4 / pf) / math.log(5)) for pf in (1, 2, 3))
    assert (TITLE_WEIGHT, CONTAINMENT_WEIGHT) == (8, 0.3)  # as docs/linked.md has them
    expected = [
        [8 * once, thrice, twice, 0, 0, 0],
        [0, thrice, 0, 8 * once, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, thrice, twice, 0, once, once],
    ]
    np.testing.assert_allclose(graph.incidence.toarray(), expected, rtol=1e-6)
    assert graph.incidence.dtype == graph.edges.dtype == np.float32
    np.testing.assert_allclose(graph.edges.toarray()[:4, 4:], expected, rtol=1e-6)
    np.testing.assert_array_equal(graph.edges.toarray(), graph.edges.toarray().T)
    assert graph.edges.toarray()[:4, :4].any() == np.False_
    assert graph.by_name.toarray().tolist() == graph.incidence.toarray().T.tolist()


def test_a_part_of_a_graph_weighs_as_the_whole_does():
    whole, part = build(ROWS), build(ROWS[:1], total=4, frequency={"bank of england": 1, "england": 3, "ana": 2, "not here": 9})
    np.testing.assert_array_equal(part.matrices.incidence.toarray(), whole.matrices.incidence.toarray()[:1, :3])
    assert part.matrices.frequency.tolist() == [1, 3, 2]


def test_an_empty_graph():
    for rows in ([], [("p", [], [])]):
        built = build(rows)
        assert (built.matrices.size, built.names) == (len(rows), [])
        assert walked(built, "Who is Ana?", [("p", 0.5)], 3).passages == [p for p, _, _ in rows]


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
    found = build([("p", names, [None] * len(names))]).matrices.containment
    assert set(zip(*map(list, found.nonzero()), strict=True)) == {*pairs, *((b, a) for a, b in pairs)}
    assert set(found.data.tolist()) <= {np.float32(CONTAINMENT_WEIGHT)}


NAMES = [normalise(f"{a} {b}") for a in "Ana Bo Cy Dee".split() for b in "North South Hall Rock Pier".split()] + ["ana", "rock", "pier"]


def random_memory(rng, passages=40):
    rows = []
    for number in range(passages):
        chosen = rng.choice(len(NAMES), size=int(rng.integers(1, 6)), replace=False)
        rows.append((f"p{number}", [NAMES[n] for n in chosen], [bool(rng.random() < 0.1) for _ in chosen]))
    near = sorted(((f"p{n}", float(rng.uniform(0.1, 0.8))) for n in rng.choice(passages, 10, replace=False)), key=lambda item: -item[1])
    return build(rows), near


@pytest.mark.parametrize("seed", range(5))
def test_a_neighbourhood_that_covers_everything_weighs_like_the_whole(seed):
    rng = np.random.default_rng(300 + seed)
    memory, _ = random_memory(rng)
    near = [(p, 0.9 - n / 100) for n, p in enumerate(rng.permutation(memory.passages).tolist())]
    question = "Was Ana North ever at Rock in Bo Hall?"
    whole = walked(memory, question, near, 40, trace=True)
    part = walked(memory, question, near, 40, trace=True, whole=0)
    assert part.walked == whole.walked == 40
    assert part.passages == whole.passages
    np.testing.assert_allclose(part.scores, whole.scores, rtol=1e-4)
    assert [m.key for m in part.mentions] == [m.key for m in whole.mentions] != []
    assert dict(part.seeds) == pytest.approx(dict(whole.seeds), rel=1e-4)
    assert part.paths == whole.paths


@pytest.mark.parametrize("seed", range(8))
def test_a_neighbourhood_holds_its_seeds_and_their_surroundings(seed):
    rng = np.random.default_rng(400 + seed)
    memory, near = random_memory(rng, 60)
    graph = memory.matrices
    passages = np.array([memory.passage_numbers[p] for p, _ in near])
    names = rng.choice(len(memory.names), 3, replace=False)
    part, inside, inner = graph.neighbourhood(passages, names, cap=100, limit=2000)
    assert inside[: len(passages)].tolist() == passages.tolist()  # the seeds first, in their order
    assert set(names.tolist()) <= set(inner.tolist())
    with_names = set(np.flatnonzero(graph.incidence[:, names].sum(axis=1)).tolist())
    assert set(inside.tolist()) == set(passages.tolist()) | with_names
    assert set(inner.tolist()) == set(names.tolist()) | set(graph.incidence[inside].nonzero()[1].tolist())
    np.testing.assert_array_equal(part.incidence.toarray(), graph.incidence.toarray()[np.ix_(inside, inner)])
    np.testing.assert_array_equal(part.containment.toarray(), graph.containment.toarray()[np.ix_(inner, inner)])
    np.testing.assert_array_equal(part.frequency, graph.frequency[inner])
    np.testing.assert_array_equal(part.titled, graph.titled[inner])


def test_a_neighbourhood_is_bounded():
    rows = [(f"p{n}", ["everywhere", f"only {n}"], [n in (70, 71), False]) for n in range(100)]
    memory = build(rows)
    near, names = np.array([3, 99]), np.array([memory.name_numbers["everywhere"]])
    _, inside, inner = memory.matrices.neighbourhood(near, names, cap=5, limit=2000)
    assert inside.tolist() == [3, 99, 70, 71, 0, 1, 2]  # five passages of the name: those that it is the title of first
    assert len(inner) == 8
    _, inside, inner = memory.matrices.neighbourhood(near, names, cap=5, limit=4)
    assert inside.tolist() == [3, 99, 70, 71]
    assert set(inner.tolist()) == {memory.name_numbers[n] for n in ("everywhere", "only 3", "only 99", "only 70", "only 71")}


def test_a_walk_starts_from_all_passages_near_however_many():
    """A long plan has more concrete questions, each with passages near it, than a neighbourhood takes otherwise."""
    memory = build([(f"p{n:02}", [f"name {n // 2}"], [False]) for n in range(40)])
    near = [[(f"p{n:02}", 0.9 - n / 100) for n in some] for some in (range(30, 36), range(4, 10), range(20, 26))]
    found = best_together(memory, [("who?", some) for some in near], 40, WalkRecipe(limit=5, whole=0))
    assert {passage for some in near for passage, _ in some} <= set(found.passages)


def test_a_walk_over_a_bounded_neighbourhood_still_names_what_it_found():
    memory, near = random_memory(np.random.default_rng(7), 60)
    found = walked(memory, "Ana North or Rock?", near[:3], 10, trace=True, cap=2, limit=6, whole=0)
    assert found.walked <= 6
    assert [p for p, _ in near[:3] if p in found.passages]
    assert found.scores == sorted(found.scores, reverse=True)
    for passage, path in zip(found.passages, found.paths, strict=True):
        assert path[-1] == passage
        nodes = [n in memory.passage_numbers for n in path]
        assert all(a or b is not None for a, b in itertools.pairwise(nodes))
        for a, b in itertools.pairwise(path):  # each step is an edge
            number = {**memory.passage_numbers, **{n: i + memory.matrices.size for n, i in memory.name_numbers.items()}}
            assert memory.matrices.edges[number[a], number[b]] > 0


def test_without_seeds_nothing_is_found():
    memory, _ = random_memory(np.random.default_rng(1))
    found = walked(memory, "what is this?", [], 5, trace=True)
    assert (found.passages, found.scores, found.mentions, found.paths) == ([], [], [], [])


def test_the_seeds_sum_to_one_and_favour_titles():
    memory = build([("p0", ["ana", "bo"], [True, False]), ("p1", ["cy"], [False])])
    seeds = seed(memory.matrices, np.array([0, 1]), np.array([0.8, 0.4], np.float32), np.array([0, 1]), WalkRecipe())
    assert seeds.weight.sum() == pytest.approx(1)
    assert seeds.preference.tolist()[0] == 1
    assert seeds.preference[1] == pytest.approx(math.exp(-3 * 0.4))
    assert seeds.preference[2:].tolist() == [1, 1, 1]
    names = seeds.weight[2:] / seeds.weight[2:].sum()
    best, second = 1.0, math.exp(20 * (0.4 - 0.8))  # names of the best passages, all of frequency 1
    of_passages = np.array([best, best, second]) / (2 * best + second)
    np.testing.assert_allclose(names, (of_passages + 4 * np.array([0.75, 0.25, 0])) / 5, rtol=1e-4)
    assert seeds.weight[:2].sum() / seeds.weight[2:].sum() == pytest.approx(0.2, rel=1e-4)


def same(one, two):
    assert (one.passages, one.names) == (two.passages, two.names)
    for part in ("incidence", "containment"):
        np.testing.assert_array_equal(getattr(one.matrices, part).toarray(), getattr(two.matrices, part).toarray())
        assert getattr(one.matrices, part).dtype == getattr(two.matrices, part).dtype
    np.testing.assert_array_equal(one.matrices.frequency, two.matrices.frequency)
    np.testing.assert_array_equal(one.matrices.titled, two.matrices.titled)


@pytest.mark.parametrize("rows", [ROWS, [], [("p", [], [])], [("p", ["東京", "été \u2028x"], [True, False])]])
def test_a_graph_comes_back_from_disk(tmp_path, rows):
    graph = build(rows)
    kept = files(tmp_path / "new" / "folder")
    kept.save(graph, 7)
    loaded = kept.load(7)
    assert loaded is not None
    same(loaded, graph)
    assert kept.load(8) is None


def test_only_the_newest_version_is_kept(tmp_path):
    for version in (7, 8):
        files(tmp_path).save(build(ROWS), version)
    assert [file.name for file in tmp_path.iterdir()] == ["8.npz"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("here")
    files(tmp_path / "file" / "folder").save(build(ROWS), 1)
    assert files(tmp_path / "file" / "folder").load(1) is None


def test_a_damaged_file_is_ignored_or_right(tmp_path):
    graph = build(ROWS)
    files(tmp_path).save(graph, 1)
    sound = (tmp_path / "1.npz").read_bytes()
    rng = np.random.default_rng(0)
    damaged = [b"", b"PK", b"no numpy", sound[:100], sound[:-1], sound[: len(sound) // 2], sound[1:], sound + b"x", bytes(len(sound))]
    for _ in range(400):
        place = int(rng.integers(len(sound)))
        damaged.append(sound[:place] + bytes([sound[place] ^ int(rng.integers(1, 256))]) + sound[place + 1 :])
    ignored = 0
    for data in damaged:
        (tmp_path / "1.npz").write_bytes(data)
        loaded = files(tmp_path).load(1)
        if loaded is None:
            ignored += 1
        else:
            same(loaded, graph)
    assert ignored > 200


def test_another_format_is_ignored(tmp_path):
    files(tmp_path).save(build(ROWS), 1)
    assert replace(files(tmp_path), form="another").load(1) is None


class Explosive:
    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was run')",)


def test_no_pickle_is_run(tmp_path):
    files(tmp_path).save(build(ROWS), 1)
    parts = dict(np.load(tmp_path / "1.npz"))
    for name in parts:
        with (tmp_path / "1.npz").open("wb") as file:
            np.savez(file, **{**parts, name: np.array([Explosive()], dtype=object)})
        assert files(tmp_path).load(1) is None
    with zipfile.ZipFile(tmp_path / "1.npz", "w") as archive:
        archive.writestr("format", "no array")
    assert files(tmp_path).load(1) is None
