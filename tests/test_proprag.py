"""PropRAG on graphs small enough to check by hand: edges, stages, recipes, linking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gsw_graph.ask.retrieve.propositions import (
    Path,
    _seed_weights,
    build,
    rank_passages,
    similar_names,
)
from gsw_graph.ask.retrieve.recipes import (
    PROPOSITION_RECIPES,
    EdgeWeights,
)

DEFAULT, PAPER = PROPOSITION_RECIPES.values()
# A chain over three passages (ana - pier - porto), and two that have nothing to do with it.
FACTS = {
    "p0": [("f0", ["ana", "pier"]), ("f1", ["ana", "engineer"])],
    "p1": [("f2", ["pier", "porto"])],
    "p2": [("f3", ["porto", "river", "mayor"])],
    "p3": [("f4", ["cat", "dog"])],
    "p4": [],
}
AXIS = {"f0": 0, "f1": 1, "f2": 2, "f3": 3, "f4": 4}


def unit(**parts):
    vector = np.zeros(6, dtype=np.float32)
    for fact, part in parts.items():
        vector[AXIS[fact]] = part
    return vector / np.linalg.norm(vector)


def graph(recipe):
    rows = []
    for passage, facts in FACTS.items():
        rows.append((passage, [fact for fact, _ in facts], [names for _, names in facts]))
    return build(rows, recipe.weights)


QUESTION = unit(f0=1.0, f3=0.8, f2=0.1)
NEAR = [("p0", 0.7), ("p2", 0.5), ("p1", 0.2), ("p3", 0.0), ("p4", 0.0)]
NEAREST_FACTS = [("f0", 0.78), ("f3", 0.62), ("f2", 0.08)]


def vectors_of(ids):
    return {id_: unit(**{id_: 1.0}) for id_ in ids}


def ask(made, recipe, k=5, near=NEAR, facts=NEAREST_FACTS, encode=None):  # type: ignore[no-untyped-def]
    return rank_passages(made, QUESTION, near, facts, k, recipe, vectors_of=vectors_of, encode=encode)


def test_edges_weigh_as_counted_by_hand():
    weights = EdgeWeights(clique=2.0, containment=0.5, synonymy=1.0)
    made = build([("q", ["c"], [["x"]]), ("p", ["b", "a"], [["x", "y"], ["x", "y", "z"]])], weights)
    assert made.passages == ["p", "q"], "whatever the order of the rows"
    assert made.propositions == ["a", "b", "c"], "whatever the order of the rows"
    assert made.concepts == ["x", "y", "z"], "whatever the order of the rows"
    edges = made.edges.toarray()
    aside = edges[2:, 2:]
    assert aside.tolist() == [[0, 4, 2], [4, 0, 2], [2, 2, 0]], "x and y stand in two propositions"
    found = edges[:2, 2:].tolist()
    expected = [[0.5, 0.5, 0.5], [0.5, 0, 0]]
    assert found == expected
    assert (edges == edges.T).all()


def test_similar_names_add_to_the_clique():
    vectors = {"ana": [1, 0], "anna": [0.9, 0.435889894], "pier": [0, 1], "a": [1, 0]}

    def encode(names):
        return np.array([vectors[name] for name in names], np.float32)

    similar = similar_names(list(vectors), encode, 0.8).toarray()
    assert similar[0].tolist() == pytest.approx([0, 0.9, 0, 0]), "a name of one letter is like no other"
    assert (similar == similar.T).all()
    assert similar_names(list(vectors), encode, 0.95).nnz == 0, "the threshold is a setting"
    weights = EdgeWeights(clique=2.0, synonymy=2.0)
    rows = [("p", ["f"], [["ana", "anna"]]), ("q", ["g"], [["pier", "ana"]])]
    made = build(rows, weights, lambda names: similar_names(names, encode, 0.8))
    assert made.edges.toarray()[2, 3] == pytest.approx(2 + 1.8)
    part = made.within({"p"}.__contains__)
    alone = build(rows[:1], weights, lambda names: similar_names(names, encode, 0.8))
    assert (part.passages, part.concepts, part.propositions) == (["p"], ["ana", "anna"], ["f"])
    assert (part.edges.toarray() == alone.edges.toarray()).all(), "as if there were no other passage"
    other = made.within({"q"}.__contains__)
    assert (other.home.tolist(), other.concepts, other.propositions) == ([0], ["ana", "pier"], ["g"])
    assert similar_names([], encode, 0.8).shape == (0, 0)


@pytest.mark.parametrize(
    "recipe", [DEFAULT, replace(PAPER, exact=0, coherence=-1.0)], ids=["code", "paper"]
)  # these facts are orthogonal
def test_the_chain_comes_first_and_what_is_unconnected_last(recipe):
    found = ask(graph(recipe), recipe)
    assert set(found.passages[:3]) == {"p0", "p1", "p2"}
    assert found.scores == sorted(found.scores, reverse=True)
    assert {"f0", "f3"} <= set(found.paths[0][0])  # f3 may follow f0 as a jump
    assert sum(weight for _, weight in found.seeds) == pytest.approx(
        1, abs=0.1
    )  # passages have the little rest


def test_a_memory_without_propositions_answers_by_vectors():
    found = ask(build([(passage, [], []) for passage in FACTS], DEFAULT.weights), DEFAULT, 2, facts=[])
    assert found.passages == ["p0", "p2"]
    assert found.paths == []


def test_the_weight_of_a_seed_is_the_best_path_or_the_sum_of_its_paths():
    made = graph(PAPER)
    numbers = {name: number for number, name in enumerate(made.concepts)}
    facts = {fact: number for number, fact in enumerate(made.propositions)}
    paths = [Path((facts["f3"],), 0.5), Path((facts["f0"], facts["f2"]), 0.4), Path((facts["f0"],), 0.3)]

    def weights(most, weight):
        found = _seed_weights(made, paths, most, weight)
        return {name: pytest.approx(found[number]) for name, number in numbers.items() if number in found}

    assert PAPER.path_weight == "sum"
    assert weights(3, "sum") == {"porto": 1, "ana": 0.7 / 0.9, "pier": 0.7 / 0.9}
    assert weights(3, "best") == {"porto": 1, "ana": 0.8, "pier": 0.8}
