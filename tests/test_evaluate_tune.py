"""Tuning: the held-out figure is of questions that the choice did not see."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate_fakes import FakeMemory, questions, record
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.errors import InputError
from gsw_graph.evaluate import tune
from gsw_graph.evaluate.metrics import SEED
from gsw_graph.evaluate.tune import cross_validate


def names(number):
    return [{"walk.steps": n} for n in range(number)]


def by_loops(table, folds, repeats):
    """The same, question by question."""
    source = np.random.default_rng(SEED)
    number = len(table[0])
    total = [0.0] * number
    for _ in range(repeats):
        fold = source.permutation(np.arange(number) % folds)
        for question in range(number):
            others = [other for other in range(number) if fold[other] != fold[question]]
            means = [round(sum(row[other] for other in others) / len(others), 12) for row in table]
            total[question] += table[means.index(max(means))][question]
    return sum(total) / number / repeats


@given(st.integers(2, 5), st.integers(0, 1000), st.integers(1, 4), st.integers(5, 12))
def test_cross_validation_equals_the_plain_way(folds, seed, combinations, number):
    table = np.random.default_rng(seed).integers(0, 3, (combinations, number)) / 2
    found = cross_validate(table, names(combinations), metric="f1", folds=folds, repeats=3)
    assert found.held_out == pytest.approx(by_loops(table.tolist(), folds, 3))
    assert [row["mean"] for row in found.tried] == pytest.approx(table.mean(axis=1).tolist())
    assert found.gain["mean"] == pytest.approx(found.held_out - table[0].mean())
    assert sum(one["chosen"] for one in found.tried) == pytest.approx(1)


def test_choosing_among_noise_gains_nothing_held_out():
    """The fitted figure flatters: among 60 settings that do not differ the best seems far better than all are."""
    table = np.random.default_rng(5).random((60, 80))
    found = cross_validate(table, names(60), metric="f1", folds=5, repeats=20)
    assert max(row["mean"] for row in found.tried) > 0.55
    assert found.held_out < 0.52


def test_every_combination_and_the_usual_is_asked(tmp_path):
    usual = {"walk.restart": 0.1, "walk.steps": 15}
    asked = questions(*(record(f"q{n}", 1, 2) for n in range(6)), record("c", 1, answerable=False))
    memory = FakeMemory(lambda question, strategy: [1, 2] if memory.recipe.walk.steps == 4 else [1])
    grid = {"walk.restart": [0.2, 0.3], "walk.steps": [15, 4]}
    found = tune(memory, asked, "linked", grid, folds=3, repeats=2, out=tmp_path)
    assert found.questions == 6  # recall is of what can be answered
    assert [one["settings"] for one in found.tried] == [usual, *({"walk.restart": r, "walk.steps": s} for r in (0.2, 0.3) for s in (15, 4))]
    assert [one["mean"] for one in found.tried] == [0.5, 0.5, 1, 0.5, 1]
    assert (found.best, found.held_out) == ({"walk.restart": 0.2, "walk.steps": 4}, 1)
    again = FakeMemory(lambda question, strategy: [])
    assert tune(again, asked, "linked", grid, folds=3, repeats=2, out=tmp_path) == found
    assert again.calls == []  # all of it was kept


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({"walk.nothing": [1]}, {}, "no setting"),
        ({"walk.steps": [3]}, {"metric": "luck"}, "no metric"),
    ],
)
def test_what_cannot_be_tuned_is_said_before_anything_is_asked(grid, options, message):
    memory = FakeMemory(lambda question, strategy: [1])
    with pytest.raises(InputError, match=message):
        tune(memory, questions(record("a", 1), record("b", 1)), grid=grid, **{"strategy": "linked", "folds": 2, **options})
    assert memory.calls == []
