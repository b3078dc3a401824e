"""Half precision beside float32 on a GPU: passages a second, agreement of the vectors, recall@5 of dense.

    python bench/half.py MODEL_FOLDER DATA/musique DATA/hotpotqa ...

A folder of data holds `corpus.json` and `questions.json` as docs/evaluation.md names them. Needs the extra `gpu`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from gsw_graph.models.embed.torch_backend import TorchBackend


class Float32(TorchBackend):
    """The same model without half precision."""

    def _halve(self) -> None:
        self.model.float()


def main() -> None:
    model, *folders = map(Path, sys.argv[1:])
    backends = {"half": TorchBackend("model", model, "cuda"), "float32": Float32("model", model, "cuda")}
    for folder in folders:
        corpus, questions = (
            json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("corpus", "questions")
        )
        texts = [f"{record['title']}\n{record['text']}" for record in corpus]
        gold = [
            {
                f"{p['title']}\n{p.get('paragraph_text', p.get('text'))}"
                for p in question["paragraphs"]
                if p.get("is_supporting", True)
            }
            for question in questions
        ]
        vectors, best = {}, {}
        for name, backend in backends.items():
            backend.encode(texts[:300], query=False)  # warm
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                vectors[name] = backend.encode(texts, query=False)
                seconds.append(time.perf_counter() - start)
            scores = (
                backend.encode([question["question"] for question in questions], query=True) @ vectors[name].T
            )
            best[name] = np.argsort(-scores, axis=1, kind="stable")[:, :5].tolist()
            recall = statistics.mean(
                len(wanted & {texts[place] for place in places}) / len(wanted)
                for wanted, places in zip(gold, best[name], strict=True)
            )
            rate = len(texts) / statistics.median(seconds)
            print(f"{folder.name} {name}: {rate:,.0f} passages/s, recall@5 {recall:.3f}")
        same = statistics.mean(set(a) == set(b) for a, b in zip(best["half"], best["float32"], strict=True))
        least = (vectors["half"] * vectors["float32"]).sum(axis=1).min()
        print(
            f"{folder.name}: least cosine of the two {least:.4f}, the same five passages for {same:.3f} of questions"
        )


if __name__ == "__main__":
    main()
