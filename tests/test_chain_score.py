"""Chain scores: Eq. 1 of the paper, what the published code does instead, and their bounds. Figures from the trace in the paper's appendix C."""

from __future__ import annotations

import math

import pytest
from chain_fakes import Find, grown, plan, scored
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.recipes import CHAIN_SCORES, geometric

chances = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_equation_1_is_the_plain_geometric_mean():
    assert geometric([0.8320, 0.8945]) == pytest.approx(math.sqrt(0.8320 * 0.8945))
    assert geometric([0.8320, 0.8945]) == pytest.approx(0.8627, abs=5e-5)
    assert geometric([0.5, 0.4, 0.2]) == pytest.approx(0.04 ** (1 / 3))
    assert geometric([0.7]) == pytest.approx(0.7)


def test_the_trace_of_appendix_c():
    """The chains of the paper's example, without those whose answers stand in their question; equal scores there have the order of the alphabet here."""
    found = {
        "Who performed the song Changed It?": [
            scored("performed", 0.8320, "Nicki Minaj", "Lil Wayne"),
            scored("song", 0.7852, "Changed It"),
            scored("frauds", 0.6172, "No Frauds", "Regret in Your Tears"),
            scored("date", 0.5898, "March 10, 2017"),
        ],
        "What is the place of birth of Nicki Minaj?": [
            scored("born", 0.8945, "Saint James, Port of Spain"),
            scored("who", 0.7891, "Nicki Minaj"),
            scored("raised", 0.6289, "Queens, New York City"),
        ],
    }
    question = "What is the place of birth of the performer of song Changed It?"
    beams = grown(
        plan("Who performed the song Changed It?", "What is the place of birth of #1?"),
        question,
        Find(found),
        score="panini_code",
    )
    expected = [
        ("Lil Wayne", 0.9160),
        ("Nicki Minaj", 0.9160),
        ("No Frauds", 0.8086),
        ("Regret in Your Tears", 0.8086),
        ("March 10, 2017", 0.7949),
    ]
    assert [(c.links[1].answer, round(c.score, 4)) for c in beams.chains[1]] == expected
    expected = [
        ("Nicki Minaj", "Saint James, Port of Spain", 0.9315),
        ("Nicki Minaj", "Queens, New York City", 0.8637),
    ]
    assert [(c.links[1].answer, c.links[2].answer, round(c.score, 4)) for c in beams.chains[2]] == expected


@pytest.mark.parametrize("name", sorted(CHAIN_SCORES))
@given(scores=chances, more=st.floats(0, 1))
def test_bounds(name, scores, more):
    """Between the worst and the best possible, and never lower for a better hop."""
    score = CHAIN_SCORES[name]
    assert 0 <= score(scores) <= 1 + 1e-12
    for place, one in enumerate(scores):
        better = [*scores[:place], max(one, more), *scores[place + 1 :]]
        assert score(better) >= score(scores) - 1e-12
