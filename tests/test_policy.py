"""The policy of selections: what it sees, how it is trained, that it learns what is there to learn, and its file."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import numpy as np
import pytest

from gsw_graph.ask.policy import FEATURES, SELECTIONS, Case, Policy, Selection, Training, features, train
from gsw_graph.errors import InputError

SHORT = Training(steps=60, rate=0.04)


def made(n: int, price: float = 0.05, seed: int = 1) -> list[Case]:
    """Make questions: facts that nearly repeat each other are as good `unique`; earlier answers are worth their tokens where one is near."""
    draw, cases = np.random.default_rng(seed), []
    for _ in range(n):
        repeats, near = draw.random() < 0.5, draw.random() < 0.5
        facts = sorted(draw.uniform(1.0, 1.05, 20) if repeats else draw.uniform(0.2, 1.4, 20), reverse=True)
        answers = sorted(draw.uniform(0.8, 1.0, 3) if near else draw.uniform(0.1, 0.4, 3), reverse=True)
        utilities = {}
        for one in SELECTIONS:
            quality = 0.5 + draw.normal(0, 0.05) + {"all": 0.2, "unique": 0.2 if repeats else 0.0, "drop": -0.3}[one.facts] + (0.2 if near else -0.2) * (one.answers != "drop")
            tokens = {"all": 800, "unique": 400, "drop": 0}[one.facts] + 100 * (one.answers != "drop")
            utilities[one] = quality - price * tokens / 1000
        cases.append(Case(features("Who built the Marrow Bridge?", {"facts": facts, "answers": answers}, steps=int(draw.integers(4))), utilities))
    return cases


def test_the_policy_learns_a_rule_and_beats_the_default_on_cases_it_has_not_seen() -> None:
    policy, unseen = train(made(40), SHORT), made(40, seed=2)
    choices = [policy.choose(case.values) for case in unseen]
    gains = [case.utilities[choice] - case.utilities[Selection()] for case, choice in zip(unseen, choices, strict=True)]
    assert np.mean(gains) > 0.03
    assert len(set(choices)) > 2, "it is not constant"


def test_dear_tokens_make_it_drop_what_cheap_ones_let_it_keep() -> None:
    for price, kept in ((0.0, 1.0), (2.0, 0.0)):
        cases = made(30, price)
        policy = train(cases, SHORT)
        assert np.mean([policy.choose(case.values).facts != "drop" for case in cases]) == kept


def test_without_pairs_it_is_the_default_and_the_same_cases_make_the_same() -> None:
    cases = made(10)
    equal = [Case(case.values, dict.fromkeys(SELECTIONS, 0.5)) for case in cases]
    assert train(equal).choose(equal[0].values) == Selection()
    assert train(cases, SHORT) == train(cases, SHORT)
    with pytest.raises(ValueError, match="nothing to train on"):
        train([])


def test_features_are_numbers_of_the_question_and_of_each_channel() -> None:
    found = dict(zip(FEATURES, features("When was Ana Ruiz born in Oslo?", {"facts": [1.5, 1.0, 0.5], "answers": [0.7]}, steps=2, model=True, budget=1000), strict=True))
    assert found["names"] == 2
    assert (found["steps"], found["model"], found["budget"]) == (2.0, 1.0, pytest.approx(log(2)))
    assert (found["facts.best"], found["facts.margin"]) == (1.5, 0.5)
    assert 0 < found["facts.ambiguity"] < 1
    assert features("a", {"facts": [1.0] * 4})[FEATURES.index("facts.ambiguity")] == pytest.approx(1.0)
    assert (found["answers.runs"], found["answers.margin"], found["answers.ambiguity"]) == (pytest.approx(log(2)), 0.7, 0.0)


def test_its_file_is_numbers_and_anything_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    policy = train(made(10), SHORT)
    policy.save(path)
    assert Policy.load(path) == policy
    whole = json.loads(path.read_text())
    broken = [
        "",
        "[]",
        "{}",
        json.dumps({**whole, "w2": whole["w2"][:-1]}),
        json.dumps({**whole, "std": [0.0] * len(FEATURES)}),
        json.dumps({**whole, "selections": [["all", "some"]]}),
        json.dumps({**whole, "selections": []}),
        json.dumps({**whole, "mean": [float("nan")] * len(FEATURES)}),
        json.dumps({**whole, "other": 1}),
        "[" * 100_000,
    ]
    for text in broken:
        path.write_text(text)
        with pytest.raises(InputError, match="this is no policy"):
            Policy.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        Policy.load(tmp_path / "none.json")
