"""Settings of an evaluation: which there are, what they can be, and that they reach the strategy that is asked and no other."""

from __future__ import annotations

import pytest
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.ask.retrieve.variants import parse_variants as variants
from gsw_graph.errors import InputError
from gsw_graph.evaluate import Variant, evaluate, run


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(run, "WARM", 0.0)


# Which settings there are


def value(recipe, name):
    for part in filter(None, name.split(".")):
        recipe = getattr(recipe, part)
    return recipe


@pytest.mark.parametrize(
    ("strategy", "name", "value", "message"),
    [
        ("linked", "walk.nothing", 1, r"linked has no setting 'walk\.nothing'.*It has walk\.nearest, "),
        ("linked", "walk", 1, "no setting"),
        ("linked", "restart", 1, "no setting"),
        ("linked", "walk.restart.x", 1, "no setting"),
        ("linked", "walk.", 1, "no setting"),
        ("linked", ".walk.restart", 1, "no setting"),
        ("linked", "", 1, "no setting"),
        ("linked", "walk.RESTART", 1, "no setting"),
        ("linked", "walk.__class__", 1, "no setting"),
        ("linked", "os.path.sep", 1, "no setting"),
        ("linked", "recipe", "paper", "no setting"),
        ("linked", "width", 3, "no setting"),
        ("linked", "title_weight", 1.0, "no setting"),  # it went into graphs that are kept on disk
        ("proprag", "weights", 1, "no setting"),
        ("proprag", "neighbours", 5, "no setting"),  # and so did this
        ("ricr", "walk.scan", 5, "no setting"),  # chains are walked from in memories that the client holds
        ("fusion", "chains.walk.scan", 5, "no setting"),
        ("auto", "walk.restart", 0.1, "auto has no setting.*sure"),
        ("magic", "walk.restart", 0.1, "no strategy 'magic'.*auto, linked"),
        ("linked", "walk.steps", 1.5, "cannot be 1.5.*a whole number"),
        ("linked", "walk.steps", True, "cannot be True"),
        ("linked", "walk.steps", "3", "cannot be '3'"),
        ("linked", "walk.restart", "x", "cannot be 'x'.*a finite number"),
        ("linked", "walk.restart", None, "cannot be None"),
        ("linked", "walk.restart", float("nan"), "cannot be nan.*finite"),
        ("linked", "walk.restart", float("inf"), "cannot be inf.*finite"),
        ("linked", "walk.restart", -0.1, "cannot be -0.1.*at least 0"),
        ("linked", "walk.steps", 0, "cannot be 0.*at least 1"),
        ("fusion", "chains.walk.nearest", 0, "cannot be 0.*at least 1"),
        ("fusion", "least", -0.5, "cannot be -0.5.*at least 0"),
        ("ricr", "score", "product", "score cannot be 'product'.*panini_code, geometric"),
        ("ricr", "score", 1, "cannot be 1.*a text"),
        ("proprag", "recipe", "other", "no recipe 'other'.*default, paper"),
        ("proprag", "recipe", 1, "cannot be 1"),
        ("proprag", "width", 2.5, "cannot be 2.5"),
        ("proprag", "width", 0, "cannot be 0.*at least 1"),
        ("proprag", "coherence", -1.5, "cannot be -1.5.*at least -1"),
        ("proprag", "weights.clique", -1.0, "cannot be -1.0.*at least 0"),
    ],
)
def test_settings_that_there_are_not(strategy, name, value, message):
    with pytest.raises(InputError, match=message):
        Variant(strategy, {name: value})


# Read from text


def test_variants_are_read_from_text():
    found = variants("linked, proprag[recipe=paper,width=5] ,fusion[best=4,chains.beam=2],dense")
    assert [variant.name for variant in found] == [
        "linked",
        "proprag [recipe=paper, width=5]",
        "fusion [best=4, chains.beam=2]",
        "dense",
    ]
    assert [one.name for one in variants(found[1].name)] == [found[1].name]
    for text, message in (
        ("magic", "no strategy 'magic'"),
        ("linked,", "no strategy ''"),
        ("magic[width=5]", "no strategy 'magic'"),
        ("linked[walk.steps=3", "is no strategy with settings"),
        ("linked[walk.steps=3]]x", "is no strategy with settings"),
        ("linked[]", "is no strategy with settings"),
        ("linked[walk.steps]", "is no strategy with settings"),
        ("linked[walk.steps=3,walk.steps=4]", "is no strategy with settings"),
        ("linked[walk.steps=x]", "cannot be 'x'"),
        ("linked[walk.steps=0]", "cannot be 0"),
        ("dense[k=1]", "dense has no setting 'k'"),
    ):
        with pytest.raises(InputError, match=message):
            variants(text)


# They reach who is asked, and nobody else


def test_a_variant_is_asked_with_its_settings_and_no_other_is():
    seen = []
    memory = FakeMemory(
        lambda question, strategy: seen.append((memory.recipe.walk.restart, memory.recipe.walk.steps)) or [1]
    )
    found = evaluate(
        memory,
        questions(record("a", 1)),
        ["linked", Variant("linked", {"walk.restart": 0.3, "walk.steps": 4})],
    )
    assert seen == [(0.1, 15), (0.3, 4)] * 2  # warming, then asking
    assert list(found.strategies) == ["linked", "linked [walk.restart=0.3, walk.steps=4]"]
    assert found.settings["strategies"][1]["settings"] == {"walk.restart": 0.3, "walk.steps": 4}
