"""PropRAG on graphs small enough to check by hand: edges, stages, recipes, linking."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from gsw_graph.retrieve.names import graph as name_graph
from gsw_graph.retrieve.propositions import graph as proposition_graph
from gsw_graph.retrieve.propositions.graph import PropositionGraph
from gsw_graph.retrieve.propositions.passages import best_passages
from gsw_graph.retrieve.propositions.walk_graph import WalkGraph, alone, with_names
from gsw_graph.retrieve.recipes import (
    CODE,
    LINKED,
    PAPER,
    PROPOSITION_RECIPES,
    QUICK,
    EdgeWeights,
    PropositionRecipe,
)

# A chain over three passages (ana - pier - porto), and two that have nothing to do with it.
FACTS: dict[str, list[tuple[str, list[str]]]] = {
    "p0": [("f0", ["ana", "pier"]), ("f1", ["ana", "engineer"])],
    "p1": [("f2", ["pier", "porto"])],
    "p2": [("f3", ["porto", "river", "mayor"])],
    "p3": [("f4", ["cat", "dog"])],
    "p4": [],
}
AXIS = {"f0": 0, "f1": 1, "f2": 2, "f3": 3, "f4": 4}


def unit(**parts: float) -> np.ndarray:
    vector = np.zeros(6, dtype=np.float32)
    for fact, part in parts.items():
        vector[AXIS[fact]] = part
    return vector / np.linalg.norm(vector)


def graph() -> PropositionGraph:
    return proposition_graph.build(
        (passage, [f for f, _ in facts], [unit(**{f: 1.0}).tolist() for f, _ in facts], [names for _, names in facts]) for passage, facts in FACTS.items()
    )


QUESTION = unit(f0=1.0, f3=0.8, f2=0.1)
NEAR = [("p0", 0.7), ("p2", 0.5), ("p1", 0.2), ("p3", 0.0), ("p4", 0.0)]
NEAREST_FACTS = [("f0", 0.78), ("f3", 0.62), ("f2", 0.08)]


def ask(walk_graph: WalkGraph, recipe: PropositionRecipe, k: int = 5, question: str = "?"):  # type: ignore[no-untyped-def]
    return best_passages(walk_graph, question, QUESTION, NEAR, NEAREST_FACTS, k, recipe)


def edge(walk_graph: WalkGraph, one: str, other: str) -> float:
    size = len(walk_graph.graph.passages)
    number = {**{p: n for n, p in enumerate(walk_graph.graph.passages)}, **{name: size + n for n, name in enumerate(walk_graph.names)}}
    return float(walk_graph.edges[number[one], number[other]])


def test_edges_weigh_as_counted_by_hand() -> None:
    made = proposition_graph.build([*[("p", ["a", "b"], [unit(f0=1).tolist()] * 2, [["x", "y", "z"], ["x", "y"]])], ("q", ["c"], [unit(f1=1).tolist()], [["x"]])])
    walk_graph = alone(made, EdgeWeights(clique=2.0, containment=0.5, synonymy=1.0))
    assert edge(walk_graph, "x", "y") == 4  # two propositions
    assert edge(walk_graph, "x", "z") == edge(walk_graph, "z", "y") == 2
    assert edge(walk_graph, "x", "x") == 0
    assert [edge(walk_graph, "p", name) for name in "xyz"] == [0.5, 0.5, 0.5]
    assert [edge(walk_graph, "q", name) for name in "xyz"] == [0.5, 0, 0]
    assert abs(walk_graph.edges - walk_graph.edges.T).max() == 0
    assert walk_graph.frequency.tolist() == [2, 1, 1]


def test_similar_names_add_to_the_clique() -> None:
    made = graph()
    similar = made.similar.tolil()
    ana, pier = made.concept_numbers["ana"], made.concept_numbers["pier"]
    similar[ana, pier] = similar[pier, ana] = 0.9
    walk_graph = alone(replace(made, similar=similar.tocsr()), EdgeWeights(clique=2.0, containment=1.0, synonymy=2.0))
    assert edge(walk_graph, "ana", "pier") == pytest.approx(2 + 1.8)


def test_vectors_come_back_as_good_as_a_byte_allows() -> None:
    made = proposition_graph.build([("p", ["a"], [QUESTION.tolist()], [["x"]])])
    assert made.unit(np.array([0]))[0] @ QUESTION == pytest.approx(1, abs=1e-4)
    assert np.linalg.norm(made.unit(np.array([0]))) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("recipe", [QUICK, replace(PAPER, exact=0, coherence=-1.0)], ids=["code", "paper"])  # these facts are orthogonal
def test_the_chain_comes_first_and_what_is_unconnected_last(recipe: PropositionRecipe) -> None:
    found = ask(alone(graph(), recipe.weights), recipe)
    assert set(found.passages[:3]) == {"p0", "p1", "p2"}
    assert found.scores == sorted(found.scores, reverse=True)
    assert {"f0", "f3"} <= set(found.paths[0][0])  # f3 may follow f0 as a jump
    assert sum(weight for _, weight in found.seeds) == pytest.approx(1, abs=0.1)  # passages have the little rest


def test_a_proposition_in_between_is_found_by_the_beam() -> None:
    """Without jumps the path from f0 to f3 leads over f2, which is hardly near the question itself."""
    found = ask(alone(graph(), QUICK.weights), replace(QUICK, jumps=0))
    assert sorted(max((path for path, _ in found.paths), key=len)) == ["f0", "f2", "f3"]


def test_passages_outside_the_focus_stay_below_those_inside() -> None:
    found = ask(alone(graph(), QUICK.weights), replace(QUICK, focus=2))
    inside = set(found.passages[:2])
    assert inside == set(ask(alone(graph(), QUICK.weights), replace(QUICK, focus=2, focus_passage_weight=0.2)).passages[:2])
    assert found.scores[1] > found.scores[2]


@pytest.mark.parametrize("focus", [1, 3, 6])
def test_what_the_narrow_walk_does_not_reach_is_ranked_last_and_not_left_out(focus: int) -> None:
    """Six passages that nothing connects: only those whose concepts are seeds of stage 2 are reached."""
    vectors = np.eye(6, dtype=np.float32)
    made = proposition_graph.build((f"p{n}", [f"f{n}"], [vectors[n].tolist()], [[f"ana {n}", f"pier {n}"]]) for n in range(6))
    vector = np.array([6, 5, 4, 3, 2, 1], dtype=np.float32)
    vector /= np.linalg.norm(vector)
    near, facts = ([(f"{kind}{n}", float(vector[n])) for n in range(6)] for kind in "pf")
    recipe = replace(QUICK, focus=focus, focus_passage_weight=0.0)
    found = best_passages(alone(made, recipe.weights), "?", vector, near, facts, 6, recipe)
    wide = best_passages(alone(made, recipe.weights), "?", vector, near, facts, 6, replace(recipe, first_entities=0, path_entities=0)).passages  # stage 1 alone
    reached = sorted({int(name.split()[1]) for name, _ in found.seeds})
    assert 0 < len(reached) < 6
    assert sorted(found.passages[: len(reached)]) == [f"p{n}" for n in reached]
    assert found.passages[len(reached) :] == [passage for passage in wide if int(passage[1:]) not in reached]
    assert found.scores == sorted(found.scores, reverse=True)
    assert all(score > 0 for score in found.scores)
    assert len(found.passages) == 6


def test_a_part_that_holds_all_a_walk_reaches_finds_the_same() -> None:
    whole = ask(alone(graph(), QUICK.weights), QUICK)
    bounded = ask(alone(graph(), QUICK.weights), replace(QUICK, whole=0))
    assert bounded.passages == whole.passages
    assert bounded.scores == pytest.approx(whole.scores, abs=1e-3)
    assert bounded.paths == whole.paths


def test_a_part_is_bounded_and_takes_the_heaviest_edges() -> None:
    one = [unit(f0=1).tolist()]
    many = [(f"p{n}", [f"f{n}"], one, [["hub", f"name{n}"]]) for n in range(50)]
    many.append(("last", ["f", "g", "h"], one * 3, [["hub", "close"]] * 3))
    walk_graph = alone(proposition_graph.build(many), QUICK.weights)
    hub, close = (len(walk_graph.graph.passages) + walk_graph.numbers[name] for name in ("hub", "close"))
    part = walk_graph.around(np.array([hub]), replace(QUICK, whole=0, cap=2))
    assert {close, 50} < set(part.nodes.tolist())  # three propositions hold it to the hub; and its passage
    assert len(part.nodes) == 5  # and the second heaviest of the hub with its passage
    assert part.size == 2
    assert len(walk_graph.around(np.array([hub]), replace(QUICK, whole=0, limit=20)).nodes) == 20


def test_it_is_deterministic() -> None:
    walk_graph = alone(graph(), QUICK.weights)
    assert ask(walk_graph, QUICK) == ask(walk_graph, QUICK) == ask(alone(graph(), QUICK.weights), QUICK)


def test_paths_are_embedded_only_where_the_recipe_says_so() -> None:
    asked: list[list[list[str]]] = []

    def encode(paths):  # type: ignore[no-untyped-def]
        asked.append([list(path) for path in paths])
        return np.stack([unit(f0=1.0) for _ in paths])

    walk_graph = alone(graph(), CODE.weights)
    narrow = replace(CODE, width=1)
    best_passages(walk_graph, "?", QUESTION, NEAR, NEAREST_FACTS, 5, replace(narrow, exact=0), encode=encode)
    assert asked == []
    best_passages(walk_graph, "?", QUESTION, NEAR, NEAREST_FACTS, 5, narrow, encode=encode)
    assert asked
    assert all(fact in AXIS for paths in asked for path in paths for fact in path)
    assert all(len(paths) <= CODE.exact for paths in asked)


def test_the_names_of_the_question_are_seeds_of_the_linked_recipe() -> None:
    named = name_graph.build([("p3", ["Cat House".lower(), "dog"], [True, False]), ("p4", ["cat house"], [False]), ("p0", ["ana"], [False])])
    walk_graph = with_names(graph(), named, LINKED.weights)
    assert walk_graph.names[: len(walk_graph.graph.concepts)] == walk_graph.graph.concepts
    assert edge(walk_graph, "p3", "cat house") > edge(walk_graph, "p4", "cat house") > 0
    assert edge(walk_graph, "p0", "ana") > LINKED.weights.containment  # the name's edge joins that of the proposition
    assert walk_graph.titled[walk_graph.numbers["cat house"]]
    without = ask(walk_graph, LINKED, question="Who wrote this?")
    found = ask(walk_graph, LINKED, question="Who built the Cat House?")
    assert [mention.key for mention in found.mentions] == ["cat house"]
    assert without.passages[0] != found.passages[0] == "p3"
    assert ask(alone(graph(), QUICK.weights), QUICK, question="Who built the Cat House?").mentions == []


def test_a_memory_without_propositions_answers_by_vectors() -> None:
    empty = proposition_graph.build((passage, [], [], []) for passage in FACTS)
    found = best_passages(alone(empty, QUICK.weights), "?", QUESTION, NEAR, [], 2, QUICK)
    assert found.passages == ["p0", "p2"]
    assert found.paths == []


def test_what_the_index_knows_and_the_graph_does_not_is_left_out() -> None:
    found = best_passages(alone(graph(), QUICK.weights), "?", QUESTION, [("new", 0.9), *NEAR], [("fresh", 0.9), *NEAREST_FACTS], 5, QUICK)
    assert "new" not in found.passages
    assert set(found.passages[:3]) == {"p0", "p1", "p2"}


def test_the_paper_and_the_code_differ_where_the_comparison_says_so() -> None:
    different = {field.name for field in fields(PropositionRecipe) if getattr(PAPER, field.name) != getattr(CODE, field.name)}
    assert different == {"weights", "propositions", "entities", "passage_weight", "focus", "width", "jumps", "coherence", "one_order"}
    assert (PAPER.width, PAPER.focus, PAPER.coherence) == (5, 100, 0.075)
    assert set(PROPOSITION_RECIPES) == {"paper", "code", "quick", "linked"}
