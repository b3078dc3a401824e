"""Recall of `linked`, `dense` and `bm25` in each language: the example corpus with its translations, or the small world.

    python bench/languages.py [--world] [--together] [--strategies linked,dense,bm25] [--misses]

Each language has a memory of its own, or all have one (`--together`).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gsw_graph.evaluate import read_questions
from gsw_graph.memory import Memory

ROOT = Path(__file__).parents[1]
TRANSLATED = ROOT / "tests" / "languages"
Corpora = dict[str, tuple[list[dict[str, str]], list[tuple[str, set[str]]]]]


def main() -> None:
    """Load the memories, ask, and print a line for each language."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", action="store_true")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--strategies", default="linked,dense,bm25")
    arguments = parser.parse_args()
    strategies = arguments.strategies.split(",")
    corpora = dict(world() if arguments.world else translations())
    print(f"| recall@2, @5 | {' | '.join(strategies)} |\n|---|{'---|' * len(strategies)}")
    with tempfile.TemporaryDirectory() as folder:
        for code, (_, questions) in corpora.items():
            loaded = corpora if arguments.together else {code: corpora[code]}
            path = Path(folder, "all" if arguments.together else code)
            with Memory.open(f"{path}/memory") as memory:
                for name, (documents, _) in loaded.items():
                    file = path / f"{name}.jsonl"
                    file.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
                    memory.load(str(file))
                figures = [measure(memory, code, questions, name, arguments.misses) for name in strategies]
            print(f"| {code} | {' | '.join(figures)} |", flush=True)


def translations() -> Iterator[tuple[str, Any]]:
    """Yield the example corpus in each language: documents, and questions with the ids of their documents."""
    files = sorted((ROOT / "examples" / "corpus").iterdir())
    texts = (file.read_text(encoding="utf-8").partition("\n") for file in files)
    english = [
        {"source": file.name, "title": title.strip("# "), "text": text}
        for file, (title, _, text) in zip(files, texts, strict=True)
    ]
    asked = read_questions(ROOT / "examples" / "questions.jsonl").questions
    supporting = [json.loads(line)["supporting"] for line in (ROOT / "examples" / "questions.jsonl").open()]
    questions = [
        {"question": question.question, "supporting": gold}
        for question, gold in zip(asked, supporting, strict=True)
    ]
    translated = {
        file.suffixes[0][1:]: json.loads(file.read_text("utf-8"))
        for file in sorted(TRANSLATED.glob("corpus.*.json"))
    }
    for code, held in {"en": {"documents": english, "questions": questions}, **translated}.items():
        documents = [
            {
                "id": f"{code}/{d['source']}",
                "title": d["title"],
                "text": d["text"].removeprefix("# ").removeprefix(d["title"]).strip(),
            }
            for d in held["documents"]
        ]
        yield (
            code,
            (
                documents,
                [(q["question"], {f"{code}/{s}" for s in q["supporting"]}) for q in held["questions"]],
            ),
        )


def world() -> Iterator[tuple[str, Any]]:
    """Yield the twelve documents of the small world in each language, with their questions."""
    held = json.loads((TRANSLATED / "world.json").read_text("utf-8"))
    for code, own in held["languages"].items():
        documents = [{"id": f"{code}/{n}", **document} for n, document in enumerate(own["documents"])]
        golds = [{f"{code}/{n}" for n in gold} for gold in held["gold"]]
        yield code, (documents, list(zip(own["questions"], golds, strict=True)))


def measure(
    memory: Memory, code: str, questions: list[tuple[str, set[str]]], strategy: str, misses: bool
) -> str:
    """Return recall@2 and @5, and print what was missed."""
    recalls = []
    for question, gold in questions:
        answer = memory.ask(question, strategy=strategy, k=5, llm=False, keep=False, answer=False)
        sources = [passage.source for passage in answer.passages]
        recalls.append([len(gold & set(sources[:k])) / len(gold) for k in (2, 5)])
        if misses and gold - set(sources):
            print(f"{code} {strategy}: {question}\n  missed {gold - set(sources)}\n  {sources}")
    return ", ".join(f"{sum(column) / len(column):.2f}" for column in zip(*recalls, strict=True))


if __name__ == "__main__":
    main()
