"""What is nearest is found: a search for few neighbours looks at more nodes than it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gsw_graph.store.reader import Reader

EXAMPLES = Path(__file__).parent.parent / "examples"
QUESTIONS = [
    json.loads(line)["question"]
    for name in ("questions", "comparative")
    for line in (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("k", [1, 10])
def test_no_nearer_passage_is_missed(corpus, k):
    rows = corpus.cypher("MATCH (p:Passage) RETURN p.id AS id, p.embedding AS embedding").rows
    vectors = np.array([row["embedding"] for row in rows])
    asked = corpus.embedder.encode_query(QUESTIONS).tolist()
    reader = Reader(corpus._connection)
    near = reader.neighbourhood(asked, [], near=k, best=1, cap=1, scan=1, limit=1, texts=0).near
    for n, embedding in enumerate(asked):
        best = np.sort(vectors @ np.array(embedding))[::-1][:k]
        assert [score for _, score in near[n]] == pytest.approx(best, abs=1e-4), QUESTIONS[n]
        assert [one.score for one in reader.dense(embedding, k)] == pytest.approx(best, abs=1e-4), QUESTIONS[
            n
        ]
