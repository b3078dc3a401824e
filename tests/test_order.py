"""What `linked` does after its first walk: names that lead on, and an order by words and links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gsw_graph.results import RankedPassage
from gsw_graph.retrieve.names import graph as name_graph
from gsw_graph.retrieve.names.leads import leads
from gsw_graph.retrieve.names.order import FEATURES, features, ordered
from gsw_graph.retrieve.names.wording import Wording
from gsw_graph.retrieve.recipes import LeadRecipe, OrderRecipe

QUESTION = "Who leads the club that purchased the Stone Pier?"
TEXTS = {
    "Stone Pier": "It was opened by Ana Ruiz. It is a purchase of the Harbour Club. Nobody knows Lone Name.",
    "Harbour Club": "The club sails. It is led by Carla Duarte.",
    "Ana Ruiz": "Ana Ruiz was a mayor.",
    "Valle Alto": "A town in the hills, home of Carla Duarte.",
}
NAMES = name_graph.build(
    [
        ("Stone Pier", ["stone pier", "harbour club", "ana ruiz", "lone name"], [True, False, False, False]),
        ("Harbour Club", ["harbour club", "carla duarte"], [True, False]),
        ("Ana Ruiz", ["ana ruiz"], [True]),
        ("Valle Alto", ["carla duarte", "valle alto"], [False, True]),
    ]
)


def walked(*titles: str, scores: tuple[float, ...] = (0.4, 0.2, 0.1, 0.05)) -> list[RankedPassage]:
    return [RankedPassage(t, t, TEXTS[t], t, t, score) for t, score in zip(titles, scores, strict=False)]


def worded(passages: list[RankedPassage], question: str = QUESTION) -> Wording:
    return Wording(question, [f"{p.title}\n{p.text}" for p in passages])


def led(*titles: str, question: str = QUESTION, **constants: float) -> list[str]:
    passages = walked(*titles)
    return leads(NAMES, question, passages, worded(passages, question), replace(LeadRecipe(), **constants))


def test_the_words_of_a_question_weigh_by_how_rare_they_are() -> None:
    wording = Wording("Who purchased the Café of the clubs?", ["the club purchases a cafe", "a club", "club"])
    assert wording.words == ["purchas", "cafe", "club"], "endings, accents and function words are off"
    assert wording.shares.sum() == pytest.approx(1)
    assert wording.shares[0] == wording.shares[1] > wording.shares[2] > 0
    assert wording.has.tolist() == [[1, 1, 1], [0, 0, 1], [0, 0, 1]]
    assert wording.share("The Café") == pytest.approx(wording.shares[1])
    empty = Wording("Who is it?", ["a", "b"])
    assert (empty.has.shape, empty.share("a")) == ((2, 0), 0)
    assert Wording("Who purchased it?", []).has.shape == (0, 1)


def test_the_names_of_the_best_sentences_lead_on() -> None:
    assert led("Stone Pier", names=1) == ["the Harbour Club"], "its sentence says who bought it"
    assert led("Stone Pier", names=2) == ["the Harbour Club", "Ana Ruiz"]
    assert led("Stone Pier", names=5) == ["the Harbour Club", "Ana Ruiz"], "the pier stands in the question, and one name nowhere else"
    assert led("Valle Alto", names=1) == ["Valle Alto"], "a title leads to its own passage"
    assert led("Stone Pier", names=0) == led() == []


def test_features_say_what_two_passages_tell_together() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    wording = worded(passages)
    table = dict(zip(FEATURES, features(NAMES, passages, wording, replace(OrderRecipe(), first=1, read=1)).T, strict=True))
    np.testing.assert_allclose(table["weight"], np.log([1, 0.5, 0.25, 0.125]))
    np.testing.assert_allclose(table["place"], np.log([1, 2, 3, 4]))
    assert table["named"].tolist() == [0, 1, 1, 0], "the pier's passage names the two that come next"
    assert table["left"][0] == table["left"][1] == 0, "what the first has read is not left"
    assert table["together"][1] == pytest.approx(wording.has[0] @ wording.shares), "Ruiz adds nothing to the pier"
    assert table["together"][2] >= table["together"][1]
    assert table["together"][3] == 0, "nobody of the first speaks of the town"


def test_the_order_is_that_of_the_weighted_features() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    none = replace(OrderRecipe(), weight=0, place=0, left=0, named=0, together=0)
    order, shares = ordered(NAMES, passages, worded(passages), none)
    assert (order, shares) == ([0, 1, 2, 3], [0.25] * 4), "of equals the walk's order stands"
    order, shares = ordered(NAMES, passages, worded(passages), replace(none, place=1))
    assert order == [3, 2, 1, 0]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert ordered(NAMES, [], worded([]), none) == ([], [])
    assert ordered(NAMES, walked("Ana Ruiz", scores=(0.0,)), worded(walked("Ana Ruiz")), none) == ([0], [1.0])
