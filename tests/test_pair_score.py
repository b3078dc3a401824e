"""How well a pair answers: concrete questions with answers in them, and features by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gsw_graph.ask.retrieve.pair_score import (
    FEATURES,
    fill_references,
    scores,
)
from gsw_graph.ask.retrieve.recipes import Fit


def rows(*vectors):
    return np.array(vectors, np.float32)


QUESTION, ORIGINAL, RELATION = rows((1, 0), (0, 1), (0.6, 0.8))


# ConcreteQuestion questions


@pytest.mark.parametrize(
    ("question", "answers", "text"),
    [
        ("Where was #1 born?", {1: "Ana Ruiz"}, "Where was Ana Ruiz born?"),
        ("#1 >> place of birth", {1: "Ana Ruiz"}, "Ana Ruiz place of birth"),
        ("Salt Road >> director", {}, "Salt Road director"),
        ("Is #1 near #12?", {1: "Ana", 12: "Bo"}, "Is Ana near Bo?"),
        ("Is #12 near #1?", {1: "Ana", 12: "Bo"}, "Is Bo near Ana?"),
        ("Is #1 #1's son?", {1: "Ana"}, "Is Ana Ana's son?"),
        ("Who is #1?", {1: r"\1 (x+)* [a-z]$ \g<0> C++"}, r"Who is \1 (x+)* [a-z]$ \g<0> C++?"),
        ("Who is #1 of #2?", {1: "the #2 of #1", 2: "Bo"}, "Who is the #2 of #1 of Bo?"),  # in one pass
        ("  Who\n is  #1 ?", {1: "Ana"}, "Who is Ana ?"),
    ],
)
def test_answers_are_put_into_the_question(question, answers, text):
    assert fill_references(question, answers).text == text


# Features


# Scores


FIT = Fit()


def test_cosines_of_another_embedder_are_put_on_the_scale_of_the_weights():
    """Cosines of many embedders are all above 0.7: by weights that were fitted to others every pair was right."""
    found = np.zeros((3, 8), np.float32)
    found[:, :4] = [[0.70] * 4, [0.75] * 4, [0.90] * 4]
    plain = scores(found, FIT, fitted=False)
    assert scores(found, FIT, fitted=True).min() > plain.max()
    assert plain.tolist() == sorted(plain)
    assert plain.mean() < 0.01, "none has a name or a word of the question"
    other = found.copy()
    other[:, :4] = (found[:, :4] - 0.7) / 2
    assert scores(other, FIT, fitted=False) == pytest.approx(plain, rel=1e-3), (
        "the scale of an embedder makes no difference"
    )


def test_scores_are_logistic():
    *weights, bias = FIT.pair
    assert len(weights) == len(FEATURES)
    assert min(weights) >= 0  # no feature speaks against an answer
    found = np.array([[0] * 8, [0.5, 0.4, 0.3, 0.2, 1, 0.5, -1, 1]], np.float32)
    by_hand = sum(w * x for w, x in zip(weights, [0.5, 0.4, 0.3, 0.2, 1, 0.5, -1, 1], strict=True)) - bias
    expected = pytest.approx([1 / (1 + math.exp(bias)), 1 / (1 + math.exp(-by_hand))], rel=1e-5)
    assert scores(found, FIT, fitted=True) == expected
