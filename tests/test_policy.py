"""The policy of selections: what it sees, how it is trained, that it learns what is there to learn, and its file."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from gsw_graph.errors import InputError
from gsw_graph.evaluate.statistics import paired
from gsw_graph.policy.features import FEATURES, features
from gsw_graph.policy.policy import Policy
from gsw_graph.policy.selection import SELECTIONS, Selection, Utility
from gsw_graph.policy.training import Case, HeldOut, Training, best_fixed, held_out, train

SHORT = Training(steps=60, rate=0.04)


def made(n: int, utility: Utility, *, rule: bool = True, seed: int = 1) -> list[Case]:
    """Questions of a made world: facts that nearly repeat each other are as good `unique`; earlier answers are worth their tokens where one is near; chains never are.
    Without `rule` only noise."""
    draw, cases = np.random.default_rng(seed), []
    for _ in range(n):
        repeats, near = draw.random() < 0.5, draw.random() < 0.5
        facts = sorted(draw.uniform(1.0, 1.05, 20) if repeats else draw.uniform(0.2, 1.4, 20), reverse=True)
        answers = sorted(draw.uniform(0.8, 1.0, 3) if near else draw.uniform(0.1, 0.4, 3), reverse=True)
        seen = features("Who built the Marrow Bridge?", {"facts": facts, "answers": answers, "thinking": [0.3]}, steps=int(draw.integers(4)))
        utilities = {}
        for one in SELECTIONS:
            quality = 0.5 + draw.normal(0, 0.05)
            if rule:
                quality += {"all": 0.2, "unique": 0.2 if repeats else 0.0, "drop": -0.3}[one.facts]
                quality += (0.2 if near else -0.2) * (one.answers != "drop")
            tokens = {"all": 800, "unique": 400, "drop": 0}[one.facts] + 100 * (one.answers != "drop") + 100 * (one.thinking != "drop")
            utilities[one] = utility.of(quality, tokens, 0.2)
        cases.append(Case(seen, utilities))
    return cases


def gain(held: HeldOut) -> tuple[float, float, float]:
    """What the policy is worth above the default, and its interval."""
    found = paired(held.default, held.policy)
    assert found is not None
    return found.mean, *found.interval


def test_the_policy_learns_a_rule_and_beats_the_default_on_cases_it_has_not_seen() -> None:
    held = held_out(made(60, Utility()), 2, SHORT)
    _, low, _ = gain(held)
    assert low > 0.03
    assert np.mean(held.policy) > np.mean(held.fixed), "no one selection does as well"
    assert len(set(held.choices)) > 2, "it is not constant"
    assert np.mean(held.best) >= np.mean(held.policy)


def test_noise_teaches_it_nothing_worth_having() -> None:
    held = held_out(made(40, Utility(0.0, 0.0), rule=False), 2, SHORT)
    difference, low, high = gain(held)
    assert low < 0.0 < high or abs(difference) < 0.03


def test_dear_tokens_make_it_drop_what_cheap_ones_let_it_keep() -> None:
    def kept(price: float) -> float:
        cases = made(30, Utility(tokens=price))
        policy = train(cases, SHORT)
        return float(np.mean([policy.choose(case.seen).facts != "drop" for case in cases]))

    assert kept(0.0) == 1.0
    assert kept(2.0) == 0.0


def test_without_pairs_it_is_the_default_and_the_same_cases_make_the_same() -> None:
    equal = [Case(case.seen, dict.fromkeys(SELECTIONS, 0.5)) for case in made(10, Utility())]
    assert train(equal).choose(equal[0].seen) == Selection() == Selection("all", "unique", "drop")
    cases = made(10, Utility())
    assert train(cases, SHORT) == train(cases, SHORT)
    with pytest.raises(ValueError, match="nothing to train on"):
        train([])
    with pytest.raises(ValueError, match="do not make 5 folds"):
        held_out(cases[:4])


def test_it_chooses_among_what_was_tried() -> None:
    tried = (Selection(), Selection("unique", "unique", "drop"))
    cases = [Case(case.seen, {one: case.utilities[one] for one in tried}) for case in made(40, Utility())]
    policy = train(cases, SHORT)
    assert {policy.choose(case.seen) for case in cases} == set(tried)
    assert best_fixed(cases) in tried


def test_beta_scales_the_part_of_the_reference_too() -> None:
    """At the start the policy is its reference, so that the loss is log 2 and beta scales its gradient alone: one small step goes the same way for any beta."""
    cases = made(20, Utility())
    for beta in (0.1, 1.0):
        moved = train(cases, Training(beta=beta, steps=1, rate=1e-3, decay=0.0))
        still = train(cases, Training(beta=beta, steps=0))
        step = np.sign(moved.logits([cases[0].seen]) - still.logits([cases[0].seen])).ravel()
        if beta == 0.1:
            before = step
    assert (before == step).all()


def test_features_are_numbers_of_the_question_and_of_each_channel() -> None:
    found = dict(zip(FEATURES, features("When was Ana Ruiz born in Oslo?", {"facts": [1.5, 1.0, 0.5], "answers": [0.7]}, steps=2, model=True, budget=1000), strict=True))
    assert found["names"] == 2
    assert (found["steps"], found["model"], found["budget"]) == (2.0, 1.0, pytest.approx(log(2)))
    assert (found["facts.best"], found["facts.margin"]) == (1.5, 0.5)
    assert 0 < found["facts.ambiguity"] < 1
    assert features("a", {"facts": [1.0] * 4})[FEATURES.index("facts.ambiguity")] == pytest.approx(1.0)
    assert (found["answers.runs"], found["answers.margin"], found["answers.ambiguity"]) == (pytest.approx(log(2)), 0.7, 0.0)
    assert [found[f"thinking.{name}"] for name in ("runs", "best", "margin", "ambiguity")] == [0.0] * 4


def test_utility_takes_tokens_and_seconds_off() -> None:
    assert Utility(0.1, 0.01).of(0.8, 2000, 3) == pytest.approx(0.8 - 0.2 - 0.03)


@pytest.mark.parametrize("places", ["all", "unique", "drop"])
def test_a_selection_is_read_off_the_settings_of_a_variant(places: str) -> None:
    assert Selection.of({"facts": places, "runs": 10}) == replace(Selection(), facts=places)
    assert Selection(facts=places).places[0] == ("all", "unique", "drop").index(places)


def test_its_file_is_numbers_and_anything_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    policy = train(made(10, Utility()), SHORT)
    policy.save(path)
    assert Policy.load(path) == policy
    whole = json.loads(path.read_text())
    broken = [
        "",
        "[]",
        "{}",
        json.dumps({**whole, "last": whole["last"][:-1]}),
        json.dumps({**whole, "features": ["words"]}),
        json.dumps({**whole, "spread": [0.0] * len(FEATURES)}),
        json.dumps({**whole, "selections": [["all", "some", "drop"]]}),
        json.dumps({**whole, "selections": []}),
        json.dumps({**whole, "middle": [float("nan")] * len(FEATURES)}),
        json.dumps({**whole, "other": 1}),
        "[" * 100_000,
    ]
    for text in broken:
        path.write_text(text)
        with pytest.raises(InputError, match="this is no policy"):
            Policy.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        Policy.load(tmp_path / "none.json")
