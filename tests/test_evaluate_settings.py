"""Settings of an evaluation: which there are, what they can be, and that they reach the strategy that is asked and no other."""

from __future__ import annotations

import pytest
from evaluate_fakes import FakeMemory, questions, record
from samples import cases

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
    cases(__file__, "settings_that_there_are_not"),
)
def test_settings_that_there_are_not(strategy, name, value, message):
    with pytest.raises(InputError, match=message):
        Variant(strategy, {name: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_setting_is_finite(value):
    with pytest.raises(InputError, match=f"cannot be {value}.*finite"):
        Variant("linked", {"walk.restart": value})


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
