"""The same question gives the same passages: in another process, with another seed of hashes, and beside other questions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import engines
import fakes
import pytest
from test_serve_process import bench

from gsw_graph import Memory
from gsw_graph.config import Settings
from gsw_graph.models.embed.embedder import Embedder

PEOPLE = ("Ottilie Grau", "Port Aldous", "the Marrow Bridge", "the Tidewater Theatre", "the Vellmouth Observatory", "the Great Tide Engine", "Vellmouth", "the harbour")
QUESTIONS = (
    "Who founded {}?", "Where is {}?", "When was {} built?", "Who designed {}?", "What happened at {}?", "Who was born near {}?", "How is {} looked after?",
    "What do people say of {}?", "Who was the master of the architect of {}?", "In which year did {} burn?", "Which opera was given at {}?", "Who directed {}?",
    "How old is {}?", "What is {} known for?", "Who paid for {}?", "Why was {} closed?", "What lies beside {}?", "Who wrote about {}?", "How does one reach {}?",
    "Which disaster struck {}?", "Who lived in {}?", "What was {} called before?", "Who repaired {}?", "What does {} cost?", "Who owns {}?",
)  # fmt: skip


def test_200_questions_have_the_same_passages_three_times(fresh_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    settings = engines.own_replies(fresh_settings, tmp_path / "cache")
    questions = [question.format(name) for question, name in product(QUESTIONS, PEOPLE)]
    assert len(set(questions)) == 200
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(questions), encoding="utf-8")
    with Memory.open(settings=settings) as memory:
        loaded = memory.load(str(bench.CORPUS))
    assert loaded.documents.new
    results = [passages(settings, file, threads, seed) for threads, seed in ((1, "1"), (8, "2"), (8, "3"))]
    assert any(results[0])
    differing = [question for question, *lists in zip(questions, *results, strict=True) if lists[1:] != lists[:-1]]
    assert differing == []


def passages(settings: Settings, questions: Path, threads: int, seed: str) -> list[list[str]]:
    """The ids of the passages of each question, asked by a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    if settings.password:
        environment["NEO4J_PASSWORD"] = settings.password
    runner = Path(__file__).parent / "repeat_runner.py"
    call = [sys.executable, str(runner), settings.memory, str(threads), str(questions)]
    result = subprocess.run(call, capture_output=True, text=True, check=True, env=environment)
    return json.loads(result.stdout)
