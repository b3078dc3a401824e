"""How well a pair answers: concrete questions with answers in them, and features by hand."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from chain_fakes import pair
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.pair_score import (
    FEATURES,
    ConcreteQuestion,
    concrete,
    features,
    relation_of,
    scores,
)
from gsw_graph.ask.retrieve.recipes import Fit, read_fit
from gsw_graph.errors import InputError
from gsw_graph.store.facts import HopResult


def asks(kind=None, names="", words=""):
    return ConcreteQuestion("?", "?", kind, frozenset(names.split()), frozenset(words.split()))


def rows(*vectors):
    return np.array(vectors, np.float32)


HOP = HopResult(
    [], rows((1, 0), (0.6, 0.8), (0, 1)), rows((0, 1), (1, 0), (0.8, 0.6)), rows((0.6, 0.8), (0, 1), (1, 0))
)
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
    assert concrete(question, answers).text == text


@pytest.mark.parametrize(
    ("question", "relation"),
    [
        ("Where was #1 born?", "Where was born"),
        ("#1 >> place of birth", "place of birth"),
        ("Salt Road >> director", "director"),
        ("Who was #1's rival in #12?", "Who was 's rival in"),
        ("In which city did Ana Ruiz meet Bo Lind?", "In which city did meet"),
        ("who lives there", "who lives there"),
    ],
)
def test_a_relation_is_what_is_asked_of_the_names(question, relation):
    assert relation_of(question) == relation


def test_names_and_other_words_of_a_question_are_apart():
    asked = concrete("Which river does #1 cross in Porto Velho?", {1: "the old bridge"})
    assert asked.names == {"old", "bridge", "porto", "velho"}  # an answer is a name, whatever it looks like
    assert asked.words == {"river", "cross"}  # no function words
    assert asked.kind is None


# Features


def test_cosines_by_hand():
    pairs = [
        pair("a", number=2),
        pair("b", number=0),
        pair("c", number=1),
    ]  # rows are by number, not by place
    found = features(asks(), pairs, HOP, QUESTION, ORIGINAL, RELATION)
    assert found.shape == (3, len(FEATURES)) == (3, 8)
    np.testing.assert_allclose(
        found[:, :4],
        [
            [0.0, 1.0, 0.8 * 0.6 + 0.6 * 0.8, 1.0],
            [1.0, 0.0, 0.8, 0.6],
            [0.6, 0.8, 0.6, 0.0],
        ],
        atol=1e-6,
    )


def one(asked, *answers, **more):
    row = features(asked, [pair("a", *answers, **more)], HOP, QUESTION, ORIGINAL, RELATION)[0, 4:7].tolist()  # type: ignore[arg-type]
    return pytest.approx(row, abs=1e-6)  # type: ignore[return-value]


def test_shares_of_names_by_hand():
    asked = asks(names="ana ruiz porto velho")
    assert one(asked, question="Where was Ana Ruiz born?") == [0.5, 0, 0]
    assert one(asked, question="Where was Ana Ruiz born?", title="Porto") == [
        0.75,
        0,
        0,
    ]  # the title of the passage counts
    assert one(asked, "Ana Ruiz", question="Who was born?", descriptions=["Ana Ruiz"]) == [
        0.0,
        0,
        0,
    ]  # the answer does not
    assert one(asks(), question="Where?") == [0.5, 0, 0]  # nothing to share


def test_shares_of_words_by_hand():
    asked = asks(words="river cross bridge")
    assert one(asked, question="Which river is long?") == [0.5, 1 / 3, 0]
    assert one(asked, question="Which river is long?", descriptions=["structure: bridge", "x"]) == [
        0.5,
        2 / 3,
        0,
    ]  # roles and states count
    assert one(asked, question="Which river is long?", title="Bridge") == [
        0.5,
        1 / 3,
        0,
    ]  # the title does not
    assert one(asks(), question="Which river?") == [0.5, 0.0, 0]


def test_a_word_is_shared_in_another_form_or_by_its_family():
    assert one(asks(words="spouse"), question="Whom did Ana marry?") == [0.5, 1, 0]
    assert one(asks(words="spouse"), question="Who is the wife of Bo?") == [0.5, 1, 0]
    assert one(asks(words="died"), question="When was Ana born?") == [0.5, 0, 0]
    assert one(asks(words="climbed"), question="Which hills did she climb?") == [0.5, 1, 0]


def test_a_county_is_asked_for_and_a_country_is_not_one():
    asked = concrete("Johnnycake >> located in the administrative territorial entity", {})
    county = pair("a", "McDowell County", question="In which county is Johnnycake?")
    country = pair("a", "United States", question="In which country is Johnnycake?")
    found = features(asked, [county, country], HOP, QUESTION, ORIGINAL, RELATION)
    assert found[:, FEATURES.index("sort")].tolist() == [1, -1]
    assert (
        found[0, FEATURES.index("kind")] == found[1, FEATURES.index("kind")]
    )  # the kind cannot tell them apart


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


def test_who_is_meant_by_a_fit(tmp_path):
    assert FIT.fits_embedder("sentence-transformers/all-MiniLM-L6-v2")
    assert FIT.fits_embedder("/models/all-MiniLM-L6-v2/")
    assert not FIT.fits_embedder("Qwen/Qwen3-Embedding-8B")
    (file := tmp_path / "fit.json").write_text(
        json.dumps(asdict(replace(FIT, embedder="other", chains={"ricr": (1.0, 2.0)})))
    )
    assert read_fit(str(file)).embedder == "other"
    file.write_text("{}x")
    read_fit.cache_clear()
    with pytest.raises(InputError, match=r"the fit cannot be read.*eval fit"):
        read_fit(str(file))


def test_scores_are_logistic():
    *weights, bias = FIT.pair
    assert len(weights) == len(FEATURES)
    assert min(weights) >= 0  # no feature speaks against an answer
    found = np.array([[0] * 8, [0.5, 0.4, 0.3, 0.2, 1, 0.5, -1, 1]], np.float32)
    by_hand = sum(w * x for w, x in zip(weights, [0.5, 0.4, 0.3, 0.2, 1, 0.5, -1, 1], strict=True)) - bias
    assert scores(found, FIT, fitted=True) == pytest.approx(
        [1 / (1 + math.exp(bias)), 1 / (1 + math.exp(-by_hand))], rel=1e-5
    )


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8), st.integers(0, 7))
def test_scores_are_chances_and_grow_with_every_feature(row, place):
    better = [*row[:place], 1.0, *row[place + 1 :]]
    low, high = scores(np.array([row, better], np.float32), FIT, fitted=True)
    assert 0 <= low <= high + 1e-7
    assert high <= 1
