"""The first passages of every strategy that asks no language model, over the examples, as they were recorded.

Record them again, with a reason in the commit message: python tests/test_golden.py
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pytest

from gsw_graph import Memory

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "data/golden.json"
SETS = {"corpus": ROOT / "examples/corpus", "workspaces": ROOT / "examples/workspaces.jsonl"}
STRATEGIES = ("auto", "linked", "fusion", "ricr", "pathwise", "proprag", "pruned", "dense", "bm25")
PLANNED = ("auto", "fusion", "ricr", "pathwise")
TOP_K = 10


def questions(name):
    """The questions of a set; comparisons are for the corpus alone."""
    files = ["questions"] + (["comparative"] if name == "corpus" else [])
    lines = [
        line
        for file in files
        for line in (ROOT / "examples" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines if line.strip()]


def ranking(memory, question, strategy, *, plan):
    """The passages of an answer, each by a hash of its text."""
    steps = question["question_decomposition"] if plan else False
    answer = memory.ask(question["question"], strategy=strategy, plan=steps, k=TOP_K, llm=False, keep=False)
    return " ".join(hashlib.sha256(passage.text.encode()).hexdigest()[:5] for passage in answer.passages)


def rankings(memory, name, strategy):
    """The passages of every question, without a plan and, where the strategy follows one, with it."""
    plans = (False, True) if name == "workspaces" and strategy in PLANNED else (False,)
    return {
        question["id"] + ("+plan" if plan else ""): ranking(memory, question, strategy, plan=plan)
        for plan in plans
        for question in questions(name)
    }


@pytest.fixture(scope="module", params=sorted(SETS))
def loaded(request, tmp_path_factory):
    """A set and a memory of it."""
    with Memory.open(str(tmp_path_factory.mktemp("golden") / "memory")) as memory:
        memory.load(str(SETS[request.param]), extractor="rules" if request.param == "corpus" else "auto")
        yield request.param, memory


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_first_passages_are_as_recorded(loaded, strategy):
    name, memory = loaded
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))[name][strategy]
    assert rankings(memory, name, strategy) == recorded


def main():
    """Record what the strategies find now."""
    recorded = {}
    for name, source in SETS.items():
        with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory") as memory:
            memory.load(str(source), extractor="rules" if name == "corpus" else "auto")
            recorded[name] = {strategy: rankings(memory, name, strategy) for strategy in STRATEGIES}
    text = json.dumps(recorded, indent=0)
    Path(sys.argv[1] if len(sys.argv) > 1 else GOLDEN).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
