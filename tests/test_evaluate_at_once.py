"""Questions asked side by side in processes that are killed: the results of asking one at a time, and no call paid twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import published
import pytest
from model_server import ModelServer

sys.path.append(str(Path(__file__).parent.parent / "bench"))
from at_once import Runs, results  # type: ignore[import-not-found,unused-ignore]

QUESTIONS = 12
AT_ONCE = 12


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_side_by_side_and_killed_twice_it_ends_as_one_at_a_time(tmp_path):
    with ModelServer(published.model) as server:
        runs = Runs(tmp_path, server, QUESTIONS)
        alone = runs.evaluate("alone", 1)
        server.delay = 0.3
        killed = runs.evaluate("killed", AT_ONCE, [10, 30])
    assert alone["calls"] == 4 * QUESTIONS, "an answer by each strategy, and one plan"
    assert alone["at once"] == 1
    assert alone["repeated"] == 0
    assert 8 < killed["at once"] <= AT_ONCE, (
        "as many as were asked for, not as many as a memory asks by itself"
    )
    assert killed["repeated"] <= killed["under way at kills"] <= 2 * AT_ONCE
    assert results(tmp_path / "killed") == results(tmp_path / "alone")
