"""Runs: edges in the order of the text, segments, the two scores, what is chosen of a channel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import cases

from gsw_graph.ask.codebook import runs_of, starts, vector_of
from gsw_graph.ask.retrieve.pruned import Codebook, QueryVectors, ScoredRun, fine_scores, select
from gsw_graph.ask.retrieve.recipes import FineRecipe, PrunedRecipe
from gsw_graph.ask.retrieve.triples import read_triples
from gsw_graph.store.codebook import Edge, RunsAround, StoredConcept, StoredEdge

X = np.array([1, 0], np.float32)


# Edges


# Segments


# The fine score

S = np.array([[0.9, 0.4, 0.1, 0.6], [0.5, 0.7, -0.2, 0.3], [0.2, 0.44, 0.0, -0.1]], np.float32)


USUAL = FineRecipe()


def unit(angles):
    return np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32).reshape(-1, 2)


def fine_score(similar, whole, recipe=USUAL):
    return float(fine_scores(similar[None].astype(np.float64), np.array([whole]), recipe)[0])


NOTHING = FineRecipe(top_weight=0, cover_weight=0, pair_weight=0, match_weight=0, gate_weight=0)


@pytest.mark.parametrize(
    ("term", "expected"),
    cases(__file__, "the_terms_of_the_fine_score_computed_by_hand"),
)
def test_the_terms_of_the_fine_score_computed_by_hand(term, expected):
    assert fine_score(S, 0.6, replace(NOTHING, **{term: 1.0})) == pytest.approx(expected, abs=1e-4)


# The vector of an edge


def test_the_vector_of_an_edge_is_that_of_its_own_triple():
    """Section 2.2 and Prop. 16: E-R-E. Once it was the mean of what the statements behind it say."""
    packed = {
        name: np.array(vector, np.int8).tobytes()
        for name, vector in {
            "a": [127, 0],
            "b": [0, 127],
            "c": [76, 102],
            "r": [127, 0],
            "s": [102, 76],
        }.items()
    }
    first, second, third = Edge("a", "r", "b", ()), Edge("b", "s", "c", ()), Edge("a", "s", "b", ())
    cosines = [float(vector_of(first, packed) @ vector_of(other, packed)) for other in (second, third)]
    assert cosines == pytest.approx([(0 + 0.8 + 0.8) / 3, (1 + 0.8 + 1) / 3], abs=0.01)
    runs = [[edge.relation for edge in run.edges] for run in runs_of([first, third, second], packed, 0.7)]
    assert runs == [["r", "s"], ["s"]]


def test_the_triples_of_a_reply():
    said = "Triples:\nbuilder | built |  Stone [1] Pier\nbuilder | town\n"
    assert read_triples(said * 5) == [("builder", "built", "Stone (1) Pier")] * 4
    with pytest.raises(ValueError, match="one triple a line"):
        read_triples("There are none.")


# The coarse score and the choice


def line(run, position, subject, relation, object_, vector, passage="p"):
    return StoredEdge(
        run,
        position,
        position,
        subject,
        relation,
        object_,
        f"{run}{position}",
        passage,
        np.array(vector, np.int8).tobytes(),
    )


def book(*edges, triples=False):
    vectors = {
        name: np.array(v, np.int8).tobytes()
        for name, v in {"a": [127, 0], "b": [0, 127], "c": [90, 90], "d": [0, 127]}.items()
    }
    concepts = [StoredConcept(name, name, name.upper(), vector, 2) for name, vector in vectors.items()]
    relations = {"r": vectors["a"], "s": vectors["b"]}
    return Codebook(RunsAround(True, list(edges), concepts, relations), triples=triples)


BOOK = book(
    line("1", 0, "a", "s", "b", [127, 0]),
    line("2", 0, "b", "r", "d", [0, 127], "q"),
    line("2", 1, "c", "s", "b", [0, 127], "q"),
    line("3", 0, "b", "s", "d", [127, 3]),
    line("4", 0, "gone", "s", "b", [127, 0]),
)


def scored(made, *runs):
    return [ScoredRun(run, 1.0, made.lines[run][0], 1.0) for run in runs]


def test_the_coarse_score_has_the_best_pair_of_concepts_and_of_relations():
    assert BOOK.runs == ["1", "2", "3"], "an edge without a concept is none"
    near_relation = QueryVectors(X[None], X[None], X[None])
    assert BOOK.coarse(near_relation, PrunedRecipe()) == [1, 0, 2], (
        "c is near enough where the relation is the one asked for"
    )
    assert BOOK.coarse(near_relation, PrunedRecipe(relation_weight=0.0)) == [0, 1, 2]
    assert BOOK.coarse(near_relation, PrunedRecipe(shortlist=1)) == [1]
    assert BOOK.in_passages(["q"]) == [1]


def test_of_a_cluster_the_medoid_stands_for_all():
    three = book(*(line(str(n), 0, "a", "r", "b", v) for n, v in enumerate(([127, 0], [124, 26], [117, 50]))))
    assert [one.run for one in select(three, scored(three, 0, 1, 2), "unique", 0.9)] == [1]
    found = [one.run for one in select(three, scored(three, 0, 1, 2), "unique", 0.95)]
    assert found == [0, 2], "the third is near the second alone"


def test_an_edge_stays_as_long_as_one_of_its_passages_is_seen():
    first = line("1", 0, "a", "s", "b", [])
    whole = book(first, replace(first, statement="11", passage="q"), triples=True)
    part = whole.within({"q"}.__contains__)
    assert [[edge.passage for edge in edges] for made in (whole, part) for edges in made.lines] == [
        ["p"],
        ["q"],
    ]
    assert part.vector_of.keys() == {"a", "b"}
    assert whole.within(set().__contains__).runs == []
    embedded = []
    for made in (whole, part):
        made.embed([0], lambda lines: embedded.extend(lines) or X[None])
        assert np.array_equal(made.vectors[0], X[None])
    assert embedded == ["A s B"], "the vectors of lines are shared"


@given(st.lists(st.tuples(st.floats(0, 6.3), st.booleans()), min_size=1, max_size=20))
def test_every_boundary_is_a_fixed_point(edges):
    """Lemma 3: given the runs on both sides of a boundary alone, the segmenter cuts there again and nowhere else. So there is nothing to merge."""
    vectors = unit([angle for angle, _ in edges])
    follows = [f for _, f in edges]
    begins = starts(vectors, follows)
    ends = [*begins[1:], len(edges)]
    for left, middle, right in zip(begins, ends, ends[1:], strict=False):
        assert starts(vectors[left:right], follows[left:right]) == [0, middle - left]
