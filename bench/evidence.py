"""How often what answers a question stands in the evidence, and at how many tokens, by form of evidence: no
language model.

    python bench/evidence.py QUESTIONS.json --memory URL [--gold-plans] [--limit N]

`answer`: a gold answer stands in the lines. `facts`: sentences that the question needs, of its gold
paragraphs, which stand there, or whose pair or facts do: MuSiQue's are those that hold the answers of its
decomposition; elsewhere, where sentences are not marked, the one of each gold paragraph that holds the answer
or names another gold paragraph. `all`: questions with all of them. `pairs`, as of bench/reader.py, is what was shown before;
`passages` the same with the five passages always; `compact` facts as a codebook (--evidence compact).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gsw_graph.answer import gather as ours
from gsw_graph.answer.chains import from_chains
from gsw_graph.answer.compact import CompactEvidence
from gsw_graph.answer.evidence import ROOM, Item, listed, quote, texts
from gsw_graph.asking import prepared
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.memory import Memory
from gsw_graph.retrieve.strategy import Retrieved

SURE = 0.5
Form = Callable[[str, Retrieved, float | None], list[Item]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--gold-plans", action="store_true", help="by MuSiQue's decompositions")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text("utf-8"))[: options.limit]
    forms: dict[str, Form] = {
        "pairs": lambda _, found, sure: before(found, sure),
        "passages": lambda _, found, __: before(found, None),
        **{f"now, to {tokens}": to(tokens) for tokens in (800, 900, 1000, 1100)},
        **{f"now, from {least} on": to(1000, least) for least in (0.0, 0.2, 0.4)},
    }
    sums = {form: [0.0] * 5 for form in (*forms, "compact")}
    with Memory.open(options.memory) as memory:
        for one in questions:
            plan = one["question_decomposition"] if options.gold_plans else None
            strategy, planned = prepared(one["question"], "fusion", plan=plan)
            state = memory._ready()
            assert state is not None
            context = memory._context(state, None, None, trace=False)
            found = strategy(context, replace(planned.query, below=ours.BELOW))
            sure = from_chains(one["question"], found, strategy.confidence, answer=True).confidence
            compact = CompactEvidence(context)
            texts = {name: form(one["question"], found, sure) for name, form in forms.items()}
            texts["compact"] = ours.gather(one["question"], found, compact)
            for name, text in texts.items():
                row = measured(one, text)
                sums[name] = [a + b for a, b in zip(sums[name], row, strict=True)]
    print(
        f"{len(questions)} questions\n\n| evidence | answer | facts | all | tokens |\n|---|---|---|---|---|"
    )
    for name, (answer, facts, wanted, all_, tokens) in sums.items():
        n = len(questions)
        print(f"| {name} | {answer / n:.3f} | {facts / wanted:.3f} | {all_ / n:.3f} | {tokens / n:.0f} |")


def before(found: Retrieved, confidence: float | None) -> list[Item]:
    """What was shown before: all pairs of the chains, passages beside them where the chains are not sure."""
    items = list(ours._pairs(found.beams, found, set())) if found.beams is not None else []
    if confidence is None or confidence < SURE:
        items += texts(found.passages, ROOM - sum(estimate(item.text) for item in items))
    return items


def to(tokens: int, least: float = ours.LEAST) -> Form:
    """What is shown now, with another budget for sentences of further passages, or another least share."""

    def form(question: str, found: Retrieved, _: float | None) -> list[Item]:
        was = ours.ENOUGH, ours.LEAST
        ours.ENOUGH, ours.LEAST = tokens, max(least, 1e-9)
        try:
            return ours.gather(question, found)
        finally:
            ours.ENOUGH, ours.LEAST = was

    return form


def measured(question: dict[str, Any], items: list[Item]) -> list[float]:
    """Whether the answer stands there, facts that do, facts wanted, whether all do, tokens."""
    text = normal(" ".join(item.text for item in items))
    answers = [normal(one) for one in (question["answer"], *question.get("answer_aliases", []))]
    wanted = needed(question)
    held = sum(
        normal(sentence) in text
        or any(
            (item.question or item.run) and key in item.passage.text and normal(answer) in normal(item.text)
            for item in items
        )
        for sentence, answer, key in wanted
    )
    there = any(one and f" {one} " in f" {text} " for one in answers)
    return [there, held, len(wanted), held == len(wanted), estimate(listed(items))]


def needed(question: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Sentences that a question needs, each with what it is to say and its paragraph."""
    gold = [p for p in question["paragraphs"] if p["is_supporting"]]
    if "question_decomposition" in question:
        by_number = {p["idx"]: p for p in gold}
        steps = [
            (step, by_number[step["paragraph_support_idx"]])
            for step in question["question_decomposition"]
            if step["paragraph_support_idx"] in by_number
        ]
        return [
            (
                quote(p["paragraph_text"], step["question"], step["answer"]),
                step["answer"],
                p["paragraph_text"],
            )
            for step, p in steps
        ]
    found = []
    for p in gold:
        text = p["paragraph_text"]
        names = [o["title"].partition(" (")[0] for o in gold if o is not p]
        said = next((one for one in (question["answer"], *names) if normal(one) in normal(text)), p["title"])
        found.append((quote(text, question["question"], said), said, text))
    return found


def normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


if __name__ == "__main__":
    main()
