"""PropRAG on graphs small enough to check by hand: edges, stages, recipes, linking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gsw_graph.ask.retrieve.propositions import build, rank_passages, similar_names
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


def graph():
    return build(
        (passage, [f for f, _ in facts], [names for _, names in facts]) for passage, facts in FACTS.items()
    )


QUESTION = unit(f0=1.0, f3=0.8, f2=0.1)
NEAR = [("p0", 0.7), ("p2", 0.5), ("p1", 0.2), ("p3", 0.0), ("p4", 0.0)]
NEAREST_FACTS = [("f0", 0.78), ("f3", 0.62), ("f2", 0.08)]


def vectors_of(ids):
    return {id_: unit(**{id_: 1.0}) for id_ in ids}


def ask(made, recipe, k=5, near=NEAR, facts=NEAREST_FACTS, encode=None):  # type: ignore[no-untyped-def]
    return rank_passages(made, QUESTION, near, facts, k, recipe, vectors_of=vectors_of, encode=encode)


def test_edges_weigh_as_counted_by_hand():
    made = build([("q", ["c"], [["x"]]), ("p", ["b", "a"], [["x", "y"], ["x", "y", "z"]])])
    assert made.passages == ["p", "q"], "whatever the order of the rows"
    assert made.propositions == ["a", "b", "c"], "whatever the order of the rows"
    assert made.concepts == ["x", "y", "z"], "whatever the order of the rows"
    edges = made.edges(EdgeWeights(clique=2.0, containment=0.5, synonymy=1.0)).toarray()
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

    similar = similar_names(list(vectors), encode).toarray()
    assert similar[0].tolist() == pytest.approx([0, 0.9, 0, 0]), "a name of one letter is like no other"
    assert (similar == similar.T).all()
    assert similar_names(list(vectors), encode, 0.95).nnz == 0, "the threshold is a setting"
    made = build([("p", ["f"], [["ana", "anna"]])], lambda names: similar_names(names, encode))
    found = made.edges(EdgeWeights(clique=2.0, synonymy=2.0)).toarray()[1, 2]
    assert found == pytest.approx(2 + 1.8)
    assert similar_names([], encode).shape == (0, 0)


@pytest.mark.parametrize(
    "recipe", [DEFAULT, replace(PAPER, exact=0, coherence=-1.0)], ids=["code", "paper"]
)  # these facts are orthogonal
def test_the_chain_comes_first_and_what_is_unconnected_last(recipe):
    found = ask(graph(), recipe)
    assert set(found.passages[:3]) == {"p0", "p1", "p2"}
    assert found.scores == sorted(found.scores, reverse=True)
    assert {"f0", "f3"} <= set(found.paths[0][0])  # f3 may follow f0 as a jump
    assert sum(weight for _, weight in found.seeds) == pytest.approx(
        1, abs=0.1
    )  # passages have the little rest


def test_a_memory_without_propositions_answers_by_vectors():
    found = ask(build((passage, [], []) for passage in FACTS), DEFAULT, 2, facts=[])
    assert found.passages == ["p0", "p2"]
    assert found.paths == []
