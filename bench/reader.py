"""Evidence forms side by side, by what one reader answers from them; every reply is recorded.

    python bench/reader.py QUESTIONS.json WORKSPACES.jsonl --memory URL [--limit N] [--record FOLDER]

The memory holds the workspaces. Each question is planned by the model and asked in every form; then the gold
passages of all questions are forgotten, they are asked again (what is right then is a refusal), and the
passages are loaded again. Replies come from bench/data/reader.jsonl and compact.jsonl, which say who wrote them: each is for
one request word for word, so that a memory that brings other evidence finds none, and the table says how
many are open. --record FOLDER notes open requests there and takes the replies that are in it: write them
(`python bench/recorder.py --open FOLDER` prints what is open) and run it again until none is open.

Forms: `one round` and `two rounds` are numbered lines, without and with a look for what the reader says is
missing; `compact` facts as a codebook (--evidence compact), with a look, and how much more right its answers
are than those of two rounds, with the 95 % interval of the paired difference.
EM and F1 are over all questions, a refusal counting 0; `answered` is the share of the questions whose gold
passages are all among the first five that are not refused; tokens are as the server counts them, plan and
all rounds, a question and a right answer (EM); tokens of evidence are estimates, of all rounds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from recorder import ModelServer, known_or_recorded

from gsw_graph.ask.plan import decompose
from gsw_graph.config import Settings
from gsw_graph.errors import InvalidReplyError, ModelUnavailableError
from gsw_graph.evaluate.metrics import exact_match, f1, paired
from gsw_graph.memory import Memory
from gsw_graph.model.results import Answer
from gsw_graph.models.chat.chat import QuestionModel, Spent

DATA = Path(__file__).parent / "data"
KNOWN = ("reader.jsonl", "compact.jsonl")
FORMS = ("one round", "two rounds", "compact")


@dataclass(frozen=True)
class Outcome:
    """Of a question in a form. answer: None where it is refused. tokens: in and out; evidence: of them.
    inferred: as the reader says. open: a request of it has no reply yet."""

    answer: str | None = None
    tokens: int = 0
    evidence: int = 0
    first_five: bool = False
    inferred: bool = False
    open: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("workspaces", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--limit", type=int, help="the first so many questions")
    parser.add_argument("--refusals", type=int, default=20, help="so many of them without their passages")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=Path, help="write what was answered to this file")
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text("utf-8"))[: options.limit]
    forms = options.forms.split(",")
    lines = [line for name in KNOWN for line in (DATA / name).read_text("utf-8").splitlines()]
    known = list(map(json.loads, lines))
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer(known_or_recorded(known, options.record)))
        # A model that nobody asked before: nothing is taken from kept replies.
        settings = replace(
            Settings.from_env(),
            memory=options.memory,
            llm=f"recorded-{uuid4()}",
            llm_url=server.url,
            llm_prompt="long",
        )
        memory = stack.enter_context(Memory.open(settings=settings))
        there = [{form: ask(memory, question, form) for form in forms} for question in questions]
        gone = []
        if some := questions[: options.refusals]:
            with forgotten(memory, some, options.workspaces):
                gone = [{form: ask(memory, question, form) for form in forms} for question in some]
    print(table(forms, questions, there, gone))
    if options.rows:
        rows = [
            {
                "question": question["question"],
                "gold": question["answer"],
                **{form: vars_of(there[n][form]) for form in forms},
                **({f"without: {form}": vars_of(gone[n][form]) for form in forms} if n < len(gone) else {}),
            }
            for n, question in enumerate(questions)
        ]
        options.rows.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")


def ask(memory: Memory, question: dict[str, Any], form: str) -> Outcome:
    """A question with the model's plan, in one form."""
    try:
        return outcome(memory, question, form)
    except (
        ModelUnavailableError
    ):  # a client gives a server up that refuses many requests in a row, as here it may
        memory._close_chat()
        return Outcome(open=True)


def outcome(memory: Memory, question: dict[str, Any], form: str) -> Outcome:
    model = QuestionModel(memory.chat)
    text = question["question"]
    try:
        plan = decompose(text, model)
    except InvalidReplyError:
        return Outcome(open=True)
    planned = count(model.spent())  # what is asked from here on is counted by the answer
    answer = memory.ask(
        text,
        strategy="fusion",
        plan=plan,
        keep=False,
        evidence="compact" if form == "compact" else "lines",
        short=True,
    )
    # A second round without a reply yet leaves the first one's refusal, and a failed call.
    pending = bool(answer.failed_calls)
    gold = {normal(p["paragraph_text"]) for p in question["paragraphs"] if p["is_supporting"]}
    texts = {normal(p.text.removeprefix(f"{p.title}\n")) for p in answer.passages[:5]}
    return Outcome(
        answer.answer,
        planned + count(answer),
        answer.tokens["evidence"],
        gold <= texts,
        answer.inferred,
        pending,
    )


def count(spent: Spent | Answer) -> int:
    """Tokens in and out, also of replies that were there already: who asked first makes no difference."""
    return sum(
        of[name] for of in (spent.tokens, *(reply.tokens for reply in spent.kept)) for name in ("in", "out")
    )


@contextmanager
def forgotten(memory: Memory, questions: Sequence[dict[str, Any]], workspaces: Path) -> Iterator[None]:
    """The memory without the gold passages of these questions."""
    gold = {
        f"{p['title']}\n{p['paragraph_text']}"
        for question in questions
        for p in question["paragraphs"]
        if p["is_supporting"]
    }
    lines = [
        line
        for line in workspaces.read_text("utf-8").splitlines()
        for record in [json.loads(line)]
        if f"{record['title']}\n{record['text']}" in gold
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gold.jsonl"
        file.write_text("\n".join(lines) + "\n", "utf-8")
        try:
            memory.forget(str(file))
            yield
        finally:  # the memory is the user's
            memory.load(str(file))


def table(
    forms: Sequence[str],
    questions: Sequence[dict[str, Any]],
    there: Sequence[dict[str, Outcome]],
    gone: Sequence[dict[str, Outcome]],
) -> str:
    """One line a form, in Markdown."""
    lines = [
        f"{len(questions)} questions, {len(gone)} of them also without their passages.",
        "",
        "| evidence | EM | F1 | answered, gold in five | right of answered | refused rightly "
        "| tokens of evidence | tokens a question | tokens a right answer | inferred | open |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for form in forms:
        rows = [(question, of[form]) for question, of in zip(questions, there, strict=True)]
        done = [(question, row) for question, row in rows if not row.open]
        without = [of[form] for of in gone if not of[form].open]
        left = len(rows) - len(done) + len(gone) - len(without)
        em = [score(exact_match, question, row) for question, row in done]
        answered = [row.answer is not None for _, row in done if row.first_five]
        tokens, shown = [row.tokens for _, row in done], [row.evidence for _, row in done]
        scores = [hit for hit, (_, row) in zip(em, done, strict=True) if row.answer is not None]
        refused = [row.answer is None for row in without]
        right = f"{sum(tokens) / sum(em):,.0f}" if any(em) else ""
        inferred = sum(row.inferred for _, row in done)
        overlap = [score(f1, question, row) for question, row in done]
        lines.append(
            f"| {form} | {mean(em)} | {mean(overlap)} | {mean(answered)} of {len(answered)} | {mean(scores)} | {mean(refused)} "
            f"| {sum(shown) / max(1, len(shown)):,.0f} | {sum(tokens) / max(1, len(tokens)):,.0f} | {right} | {inferred} | {left} |"
        )
    return "\n".join([*lines, *compared(forms, questions, there)])


def compared(
    forms: Sequence[str], questions: Sequence[dict[str, Any]], there: Sequence[dict[str, Outcome]]
) -> Iterator[str]:
    """What compact evidence gains over lines, on the questions that are open in neither."""
    if not {"two rounds", "compact"} <= set(forms):
        return
    both = [
        (question, of["two rounds"], of["compact"])
        for question, of in zip(questions, there, strict=True)
        if not (of["two rounds"].open or of["compact"].open)
    ]
    yield ""
    for name, metric in (("EM", exact_match), ("F1", f1)):
        lines = [score(metric, question, row) for question, row, _ in both]
        compact = [score(metric, question, row) for question, _, row in both]
        if (difference := paired(lines, compact)) is not None:
            low, high = difference["interval"]
            yield (
                f"{name} of compact beside two rounds: {difference['mean']:+.3f} [{low:+.3f}, {high:+.3f}], "
                f"{difference['n']} questions, {difference['above']} better, {difference['below']} worse"
            )


def score(metric: Callable[[str, Sequence[str]], float], question: dict[str, Any], outcome: Outcome) -> float:
    gold = [question["answer"], *question.get("answer_aliases", [])]
    return metric(outcome.answer, gold) if outcome.answer is not None else 0.0


def mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f}" if values else ""


def normal(text: str) -> str:
    return " ".join(text.split())


def vars_of(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}


if __name__ == "__main__":
    main()
