"""The table of docs/results.md: what each strategy retrieves on several sets, without a language model.

    python bench/strategies.py FOLDER... [--sample 150] [--seed 1] [--at-once 2] [--out DIR]

A folder holds questions.json, and workspaces.jsonl or corpus.json. Each corpus is loaded into a fresh embedded
memory, and its questions are asked with all strategies that it can serve, as `gswgraph eval QUESTIONS --strategy all
--no-answer` does; where the questions have gold plans, those that follow one are asked with it too. Prints rows of
Markdown; with --out the folders that `gswgraph eval compare` reads.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from gsw_graph import Memory
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.evaluate import evaluate, read_questions, write

CUTS = ("recall@2", "recall@5", "recall@10", "all_gold@5", "ndcg@5")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(tempfile.mkdtemp()))
    arguments = parser.parse_args()
    print(
        f"| questions, passages | strategy | plans | {' | '.join(CUTS)} |\n|---|---|---|{'---|' * len(CUTS)}"
    )
    for folder in arguments.folders:
        questions = read_questions(folder / "questions.json").subset(None, arguments.sample, arguments.seed)
        corpus = next(
            folder / name for name in ("workspaces.jsonl", "corpus.json") if (folder / name).exists()
        )
        planned = any(question.plan for question in questions.questions)
        with Memory.open(arguments.out / folder.name / "memory") as memory:
            memory.load(corpus)
            nodes = memory.status().nodes
            holds = {"pairs": nodes.get("QAPair"), "propositions": nodes.get("Proposition")}
            able = {
                name: each
                for name, each in strategies().items()
                if all(holds.get(need) for need in each.needs)
            }
            for plans in ("none", "gold") if planned else ("none",):
                out = arguments.out / folder.name / plans
                names = [name for name, each in able.items() if plans == "none" or each.follows_plan]
                done = evaluate(
                    memory,
                    questions,
                    names,
                    plans=plans,
                    answer=False,
                    llm=False,
                    at_once=arguments.at_once,
                    out=out,
                )
                write(done, out)
                for name, figures in done.strategies.items():
                    cells = [f"{figures[cut.split('@')[0]][cut.split('@')[1]]:.3f}" for cut in CUTS]
                    low, high = figures["intervals"]["recall@5"]
                    cells[1] += f" [{low:.3f}, {high:.3f}]"
                    row = [
                        f"{len(questions.questions)} of {folder.name}, {nodes['Passage']:,}",
                        f"`{name}`",
                        plans,
                        *cells,
                    ]
                    print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
