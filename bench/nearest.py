"""What a search for few neighbours misses, and what looking at 50 more of them costs, in one run.

    python bench/nearest.py MEMORY CORPUS QUESTIONS

Loads CORPUS into MEMORY where that is empty (give no memory you need), then asks `read/dense` as it is and
as it would be without the 50, in turns, and compares both with exact cosines over all passages.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from gsw_graph import Memory
from gsw_graph.cypher import statement
from gsw_graph.evaluate.data import read_questions


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("memory")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    arguments = parser.parse_args()
    forms = {"exact k": statement("read/dense").replace("$k + 50", "$k"), "k + 50": statement("read/dense")}
    with Memory.open(arguments.memory) as memory:
        if not memory.status().nodes.get("Passage"):
            memory.load(str(arguments.corpus))
        rows = memory.cypher("MATCH (p:Passage) RETURN p.id AS id, p.embedding AS embedding").rows
        ids = [row["id"] for row in rows]
        vectors = np.array([row["embedding"] for row in rows], np.float32)
        question_vectors = memory.embedder.encode_query(
            [question.question for question in read_questions(arguments.questions).questions]
        )
        print("| k | " + " | ".join(f"{form}: missed | ms" for form in forms) + " |")
        for k in (5, 10, 20, 100):
            missed, seconds = dict.fromkeys(forms, 0), dict.fromkeys(forms, 0.0)
            for vector in question_vectors:
                best = {ids[n] for n in np.argsort(-(vectors @ vector))[:k]}
                for form, text in forms.items():
                    begun = time.perf_counter()
                    with memory._connection.session(default_access_mode="READ") as session:
                        neighbours = {
                            row["id"]
                            for row in session.run(
                                text, {"k": k, "embedding": vector.tolist(), "scope": None, "spread": 1.0}
                            )
                        }
                    seconds[form] += time.perf_counter() - begun
                    missed[form] += len(best - neighbours)
            cells = [
                f"{missed[form] / k / len(question_vectors):.1%} | {1000 * seconds[form] / len(question_vectors):.1f}"
                for form in forms
            ]
            print(f"| {k} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
