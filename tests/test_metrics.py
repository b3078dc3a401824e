"""EM, F1 and recall against cases computed by hand, the odd ones of the references among them; intervals and differences."""

from __future__ import annotations

import numpy as np
import pytest
from fake_memory import passage
from samples import cases

from gsw_graph.evaluate.data import Gold
from gsw_graph.evaluate.metrics import all_gold, exact_match, f1, interval, normalised, paired, recall
from gsw_graph.evaluate.metrics import gold_ranks as ranks


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Beatles!", "beatles"),
        ("a cat and an owl", "cat and owl"),
        ("well-known", "wellknown"),  # punctuation goes without leaving a space
        ("U.S.A.", "usa"),
        ("the-the", "thethe"),  # punctuation goes before articles
        ("São Paulo", "são paulo"),  # accents stay
        ("“quoted”", "“quoted”"),  # punctuation that is not ASCII stays
        ("An", ""),
        ("\n\tA\u00a0B ", "b"),
        ("theatre", "theatre"),
    ],
)
def test_normal_form(text, normal):
    assert normalised(text) == normal


@pytest.mark.parametrize(
    ("answer", "gold", "em", "score"),
    cases(__file__, "answers_by_hand"),
)
def test_answers_by_hand(answer, gold, em, score):
    assert exact_match(answer, gold) == em
    assert f1(answer, gold) == pytest.approx(score)


def test_recall_by_hand():
    found = [3, None, 1, 12]
    assert [recall(found, k) for k in (1, 2, 5, 10, 20)] == [0.25, 0.25, 0.5, 0.5, 0.75]
    assert [all_gold(found, k) for k in (5, 20)] == [0, 0]
    assert [all_gold([2, 5], k) for k in (1, 2, 5)] == [0, 0, 1]
    assert recall([], 5) == all_gold([], 5) == 0  # the references: nothing to be found counts 0


def test_a_passage_is_found_by_its_exact_text():
    shown = [
        passage(1, title="B", text="one"),
        passage(2, title="A", text="A\none  two"),
        passage(3, title="A", text="one two"),
        passage(4, title="", text="three"),
    ]
    assert ranks([Gold("A", "one two")], shown) == [
        2
    ]  # with its title in the text or without, white space aside; the first counts
    found = ranks([Gold("A", "one"), Gold("B", "One"), Gold("C", "one two")], shown)
    assert found == [None, None, None]
    found = ranks([Gold("", "three"), Gold("", "one"), Gold("", "B\none")], shown)
    assert found == [4, 1, 1]
    assert ranks([], shown) == []


def test_of_a_passage_that_loading_cuts_any_piece_will_do():
    from gsw_graph.loaders.records import pieces

    text = "\n\n".join(
        f"Paragraph {n} says that {' '.join(f'word{n}x{m}' for m in range(60))}." for n in range(30)
    )
    cut = pieces(text)
    assert len(cut) > 1
    shown = [
        passage(1, title="B", text=cut[1]),
        *(passage(n, title="A", text=piece) for n, piece in enumerate(cut, 2)),
    ]
    assert ranks([Gold("A", text), Gold("A", cut[0])], shown) == [2, 2]
    assert ranks([Gold("A", text)], shown[:1]) == [None]  # of another title
    short = "A sentence. Another sentence."
    assert ranks([Gold("A", short)], [passage(1, title="A", text="A sentence.")]) == [
        None
    ]  # a part of a short one is another passage


def test_differences_are_paired():
    first = [0.0, 1.0, 0.5, 0.5]
    second = [0.5, 0.0, 0.5, 1.0]
    found = paired(first, second)
    assert found["n"] == 4
    assert found["mean"] == 0.0
    assert found["above"] == 2
    assert found["below"] == 1
    assert found["equal"] == 1
    assert found["interval"] == interval([0.5, -1.0, 0.0, 0.5])
    same = paired(np.arange(50.0).tolist(), (np.arange(50.0) + 1).tolist())
    assert same["interval"] == [1.0, 1.0]  # however much the questions differ among themselves
