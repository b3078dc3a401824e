"""Quality against what it costs: the plots of the report, and tokens for a right answer by hops."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from click.testing import CliRunner
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.cli.text.evaluations import print_evaluation
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.report.report import page
from gsw_graph.evaluate.report.scatter import Spot, amounts, scatter
from gsw_graph.evaluate.report.svg import Point

HIGH = 14.0
WIDE = 6.8


def spot(name, cost, quality=0.5, place=0):
    return Spot(name, cost, Point(quality, quality - 0.1, quality + 0.1, f"{name} said"), place)


def labels(drawn):
    """The names that are drawn beside points, with the boxes that they take."""
    found = re.findall(r'<g class="name"><text x="([\d.]+)" y="([\d.]+)" text-anchor="start">([^<]*)</text>', drawn)
    return {name: (float(x), float(y) - HIGH + 3, float(x) + WIDE * len(name), float(y) + 3) for x, y, name in found}


def circles(drawn):
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]


@pytest.mark.parametrize("costs", [[700.0] * 10, [0.0] * 10, [700 + n for n in range(10)], [10.0**n for n in range(10)]], ids=["equal", "none", "close", "far"])
def test_labels_of_ten_strategies_overlap_neither_each_other_nor_points(costs):
    names = [f"strategy-{n} [set={n}]" for n in range(10)]
    drawn = scatter("title", "tokens", [spot(name, cost, 0.5 + 0.01 * n, n) for n, (name, cost) in enumerate(zip(names, costs, strict=True))])
    boxes = labels(drawn)
    assert set(boxes) == set(names)
    for one, other in combinations(boxes.values(), 2):
        assert one[2] + 3 <= other[0] or other[2] + 3 <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    for left, top, right, bottom in boxes.values():
        assert left >= 0
        assert right <= 520
        assert not any(left < x < right and top < y < bottom for x, y in circles(drawn))


def test_a_point_stands_where_its_figures_are():
    drawn = scatter("title", "tokens", [spot("cheap", 100, 0.2), spot("dear", 1000, 0.8), spot("free", 0, 0.8)])
    cheap, dear, free = circles(drawn)
    assert dear[0] - free[0] == pytest.approx(10 * (cheap[0] - free[0]), abs=1)
    assert cheap[1] > dear[1] == free[1], "better stands higher"
    assert "<title>cheap said</title>" in drawn


def test_costs_far_from_each_other_stand_on_a_logarithmic_axis():
    ones = circles(scatter("title", "s", [spot("a", 0.01), spot("b", 0.1), spot("c", 1.0)]))
    assert ones[1][0] - ones[0][0] == pytest.approx(ones[2][0] - ones[1][0], abs=0.2)


def test_what_was_never_right_has_no_bar():
    drawn = amounts("title", [("linked", 1234.4, 0), ("<none>", None, 1)])
    assert ">1,234<" in drawn
    assert ">-<" in drawn
    assert "<none>" not in drawn
    assert re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)[1] == "0.0"


ASKED = questions(record("a", 1, hops=2), record("b", 1, hops=2), record("c", 1, hops=3))
TOOK = {
    (f"{key}?", "ricr"): {"answer": answer, "answer_source": "llm", "tokens": {"in": tokens, "out": 0}}
    for key, answer, tokens in (("a", "Ada", 100), ("b", "Bob", 50), ("c", "Ada", 300))
}


def test_tokens_for_a_right_answer_are_weighted_by_hops_and_shown_by_hops():
    """By hand: (2 * 150 + 3 * 300) / (2 * 1 + 3 * 1) = 240."""
    found = evaluate(FakeMemory(lambda q, s: [1], TOOK), ASKED, ["ricr", "linked"])
    assert found.strategies["ricr"]["economy"] == {"value": pytest.approx(240), "by_hops": {"2": 150, "3": 300}}
    text = page(found)
    for title in ("F1, %, against tokens a question", "F1, %, against seconds a question", "Tokens for a right answer, weighted by hops", "Tokens for a right answer by hops"):
        assert f'aria-label="{title}' in text
    assert set(labels(text)) == {"ricr"}, "linked answers nothing, so it has no F1"
    with CliRunner().isolation() as (out, *_):
        print_evaluation(found, [])
        said = out.getvalue().decode()
    assert "2 hops: ricr (n=2) recall@5 100.0, EM 50.0, F1 50.0, tokens/right 150" in said
    assert "3 hops: ricr (n=1) recall@5 100.0, EM 100.0, F1 100.0, tokens/right 300" in said


def test_where_nothing_is_right_there_are_no_bars():
    wrong = {key: {**said, "answer": "Bob"} for key, said in TOOK.items()}
    text = page(evaluate(FakeMemory(lambda q, s: [1], wrong), ASKED, ["ricr"]))
    assert "F1, %, against tokens a question" in text
    assert "right answer" not in text


def test_where_nothing_is_answered_quality_is_recall_and_nothing_costs_tokens():
    text = page(evaluate(FakeMemory(lambda q, s: [1]), ASKED, ["linked", "dense"]))
    assert 'aria-label="recall@5, %, against seconds a question' in text
    assert set(labels(text)) == {"linked", "dense"}
    assert "tokens a question" not in text
    assert "right answer" not in text
