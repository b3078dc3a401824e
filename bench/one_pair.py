"""How sure one pair must be to answer a question alone: the `sure` of `auto`.

    python bench/one_pair.py QUESTIONS.json --memory URL

QUESTIONS in the shape of MuSiQue with gold decompositions; the memory holds the workspaces of their passages.
Asked without a plan: every sub-question with the true answers of the steps before it, which a pair may answer;
and the questions as they are, of several hops, which none should. Printed for thresholds: how many of either
are answered, and how many of these rightly. Right is an answer that holds the words of the gold one, or the other way
round ("in London" for "London").
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from gsw_graph import Memory
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.recipes import AutoRecipe
from gsw_graph.ask.retrieve.strategies.auto import AUTO
from gsw_graph.text.names import normalise
from gsw_graph.text.words import WORD

SURE = np.arange(0.4, 0.91, 0.05)


def sub_questions(question: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Each step with the true answers in it, and its own."""
    steps = question["question_decomposition"]
    answers: dict[int, str] = {}
    parts: list[tuple[str, list[str]]] = []
    for step, gold in zip(parse(steps).steps, steps, strict=True):
        parts.append((step.concrete(answers), [gold["answer"]]))
        answers[step.id] = gold["answer"]
    return parts


def words(text: str) -> str:
    return f" {' '.join(WORD.findall(normalise(text)))} "


def judge(memory: Memory, pairs: list[tuple[str, list[str]]]) -> np.ndarray:
    """(questions, 2): the confidence of its pair, 0 where it is not answered by one; whether it is right."""
    rows = []
    for question, wanted in pairs:
        result = memory.ask(question, strategy=AUTO.with_recipe(AutoRecipe(sure=0.0)), llm=False, keep=False)
        by_pair = result.answer is not None and result.answer_source == "chain" and result.chains
        answer_words = words(result.answer or "")
        right = any(words(answer) in answer_words or answer_words in words(answer) for answer in wanted)
        rows.append([result.confidence if by_pair else 0.0, right])
    return np.array(rows, dtype=float)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--memory", required=True)
    arguments = parser.parse_args()
    questions = json.loads(arguments.questions.read_text("utf-8"))
    whole = [
        (question["question"], [question["answer"], *question.get("answer_aliases", [])])
        for question in questions
    ]
    with Memory.open(arguments.memory) as memory:
        single = judge(memory, [part for question in questions for part in sub_questions(question)])
        several = judge(memory, whole)
    print(f"{len(single)} sub-questions, {len(several)} questions")
    for sure in SURE:
        (single_share, right), (many, right_of_many) = (
            ((rows[:, 0] >= sure - 1e-9).sum(), rows[rows[:, 0] >= sure - 1e-9, 1].sum())
            for rows in (single, several)
        )
        share = right / single_share if single_share else 0.0
        print(
            f"sure {sure:.2f}: {single_share} sub-questions answered, {right:.0f} rightly ({share:.2f}); "
            f"{many} questions, {right_of_many:.0f} rightly"
        )


if __name__ == "__main__":
    main()
