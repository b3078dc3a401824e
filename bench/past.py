"""What a memory learns from being asked: questions asked twice, the second time in other words.

    python bench/past.py QUESTIONS.json [--others QUESTIONS.json ...]                 the rule alone
    python bench/past.py QUESTIONS.json --memory FOLDER [--record FOLDER] [--limit N]  and what it brings

bench/data/paraphrases.jsonl has for each question the `same` in other words, and an `other` that differs in
what it asks for; both were written before the rule was. The rule was made on questions in even places (from
0); those in odd places are held out.

With a memory that holds the workspaces, of which a copy is used: each question is asked, its answer judged by
people (`confirm` where it is right, `reject` where not, or nothing said), and then its `same` and its `other`.
First without a model, by gold plans, then with one, whose replies come from bench/data/reader.jsonl and
bench/data/past.jsonl: each is for one request word for word; the table says how many have none. --record as in
bench/reader.py. A second ask counts as answered from the past where its answer is right (EM) and comes from
there; where nothing is found there it is asked anew, which is not counted here. At last the documents of the
answers are forgotten.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from uuid import uuid4

from reader import count
from recorder import ModelServer, known_or_recorded

from gsw_graph.config import Settings
from gsw_graph.errors import StoppedError
from gsw_graph.evaluate.metrics import exact_match
from gsw_graph.inference.chat.language_model import QuestionModel
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.memory import Memory
from gsw_graph.past.recall import LEAST
from gsw_graph.past.reuse import Reused, reuse
from gsw_graph.past.wording import likeness
from gsw_graph.results import Answer
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategy import Query

DATA = Path(__file__).parent / "data"
NEAR = 0.6  # cosine of questions that are looked at as hard negatives


@dataclass(frozen=True)
class Case:
    """A question with what is right, in other words, and another question that looks like it."""

    question: str
    gold: list[str]
    plan: Any
    same: str
    other: str


@dataclass(frozen=True)
class Second:
    """What the past brought for a question: an answer or None, in tokens and seconds; open: a request has no
    reply yet."""

    answer: str | None
    used: str | None
    tokens: int
    seconds: float
    open: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="further sets, as negatives")
    parser.add_argument("--memory", type=Path, help="a folder that holds the workspaces")
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    cases = read(options.questions)[: options.limit]
    embedder = Embedder.load(Settings.from_env())
    print(wordings(cases, embedder))
    for path in [options.questions, *options.others]:
        print(negatives(path, embedder))
    if options.memory:
        print(without_model(cases, options.memory))
        print(with_model(cases, options.memory, options.record))


def read(path: Path) -> list[Case]:
    lines = (DATA / "paraphrases.jsonl").read_text("utf-8").splitlines()
    written = {one["id"]: one for one in map(json.loads, lines)}
    return [
        Case(
            one["question"],
            [one["answer"], *one.get("answer_aliases", [])],
            one["question_decomposition"],
            written[one["id"]]["same"],
            written[one["id"]]["other"],
        )
        for one in json.loads(path.read_text("utf-8"))
        if one["id"] in written
    ]


def wordings(cases: Sequence[Case], embedder: Embedder) -> str:
    """How the rule takes each pair of questions, by half."""
    lines = ["| questions | half | same | near | not taken |", "|---|---|---|---|---|"]
    for name in ("same", "other"):
        texts = [(one.question, getattr(one, name)) for one in cases]
        first = embedder.encode_query([one for one, _ in texts])
        second = embedder.encode_query([two for _, two in texts])
        cosines = (first * second).sum(axis=1)
        for half, place in (("made on", 0), ("held out", 1)):
            took = Counter(
                likeness(two, one) if cosine >= LEAST else None
                for (one, two), cosine in list(zip(texts, cosines, strict=True))[place::2]
            )
            lines.append(f"| {name} | {half} | {took['same']} | {took['near']} | {took[None]} |")
    return "\n".join(lines) + "\n"


def negatives(path: Path, embedder: Embedder) -> str:
    """How many pairs of different questions of a set look alike, and how many of them the rule takes for one."""
    texts = list(dict.fromkeys(one["question"] for one in json.loads(path.read_text("utf-8"))))
    vectors = embedder.encode_query(texts)
    cosines = vectors @ vectors.T
    pairs = [(i, j) for i in range(len(texts)) for j in range(i) if cosines[i, j] >= NEAR]
    alike = [(i, j) for i, j in pairs if cosines[i, j] >= LEAST]
    taken = [(i, j) for i, j in pairs if likeness(texts[i], texts[j])]
    return (
        f"{path.parent.name}: {len(texts)} questions, {len(pairs)} pairs with a cosine of {NEAR} or more, "
        f"{len(alike)} of {LEAST} or more; the rule takes {len(taken)} of all these for the same or near."
    )


def without_model(cases: Sequence[Case], folder: Path) -> str:
    """Gold plans the first time, none the second time."""
    with Copy(folder, Settings.from_env(), llm=None) as memory:
        firsts = [memory.ask(one.question, plan=one.plan, past=False) for one in cases]
        found = asked(memory, cases, firsts)
        return table("without a model, gold plans the first time", cases, firsts, found)


def with_model(cases: Sequence[Case], folder: Path, record: Path | None) -> str:
    """A model plans and answers the first time."""
    with ExitStack() as stack:
        known = [path for name in ("reader.jsonl", "past.jsonl") if (path := DATA / name).exists()]
        replies = [json.loads(line) for path in known for line in path.read_text("utf-8").splitlines()]
        server = stack.enter_context(ModelServer(known_or_recorded(replies, record)))
        settings = replace(
            Settings.from_env(), llm=f"recorded-{uuid4()}", llm_url=server.url, llm_prompt="long"
        )
        memory = stack.enter_context(Copy(folder, settings, llm=settings.llm))
        firsts = [first(memory, one) for one in cases]
        return table("with a model", cases, firsts, asked(memory, cases, firsts))


class Copy:
    """A copy of a memory in a folder, so that what is asked and forgotten there is nobody's."""

    def __init__(self, folder: Path, settings: Settings, *, llm: str | None) -> None:
        self._folder, self._settings = folder, replace(settings, llm=llm)

    def __enter__(self) -> Memory:
        self._stack = ExitStack()
        place = Path(self._stack.enter_context(tempfile.TemporaryDirectory())) / "memory"
        shutil.copytree(self._folder, place, ignore=shutil.ignore_patterns("lock"))
        memory = self._stack.enter_context(Memory.open(settings=replace(self._settings, memory=str(place))))
        memory.warm()
        return memory

    def __exit__(self, *raised: object) -> None:
        self._stack.close()


def first(memory: Memory, case: Case) -> Answer | None:
    """A question asked for the first time; None where a reply is missing."""
    try:
        answer = memory.ask(case.question, past=False)
    except StoppedError:  # a client gives a server up that refuses many requests in a row, as here it may
        memory._close_chat()
        return None
    if answer.failed_calls:
        memory.cypher("MATCH (q:Question {id: $id}) DETACH DELETE q", write=True, id=answer.id)
        return None
    return answer


def second(memory: Memory, question: str) -> Second:
    """What the past brings for a question."""
    state = memory._ready()
    assert state is not None
    model = QuestionModel(memory.chat) if memory.settings.llm else None
    start = perf_counter()
    context = memory._context(state, model, None, trace=False)
    try:
        found = reuse(Query(question), context)
        failed = model is not None and bool(model.spent().failed_calls)
    except StoppedError:
        memory._close_chat()
        return Second(None, None, 0, 0.0, open=True)
    answer = said(memory, question, found)
    tokens = count(model.spent()) if model else 0
    return Second(answer, found.past.used if found else None, tokens, perf_counter() - start, open=failed)


def said(memory: Memory, question: str, found: Reused | None) -> str | None:
    """The answer that the past gives: its own, or what its plan leads to now."""
    if found is None:
        return None
    if found.found is not None and found.found.draft is not None:
        return found.found.draft.answer
    assert found.plan is not None
    return memory.ask(question, strategy=FUSION, plan=found.plan.to_list(), keep=False, past=False).answer


Row = list[tuple[Case, Answer, Second]]


def asked(
    memory: Memory, cases: Sequence[Case], firsts: Sequence[Answer | None]
) -> dict[tuple[str, str], Row]:
    """What second asks bring while nothing is said of the first answers, while they are confirmed, and
    rejected; and when the documents that they cite are gone."""
    done = [(case, one) for case, one in zip(cases, firsts, strict=True) if one is not None]
    given = [(case, one) for case, one in done if one.answer is not None and one.id is not None]
    right = [(case, one) for case, one in given if hit(case, one.answer)]
    wrong = [(case, one) for case, one in given if not hit(case, one.answer)]
    found: dict[tuple[str, str], Row] = {}

    def ask(verdict: str, name: str, chosen: Sequence[tuple[Case, Answer]]) -> None:
        found[verdict, name] = [
            (case, one, second(memory, case.other if name == "other" else case.same)) for case, one in chosen
        ]

    for verdict in ("not judged", "confirmed", "rejected"):
        for _, one in given if verdict != "not judged" else []:
            (memory.confirm if verdict == "confirmed" else memory.reject)(str(one.id))
        ask(verdict, "same", right)
        ask(verdict, "other", right)
        ask(verdict, "same, first wrong", wrong)
    for _, one in given:
        memory.confirm(str(one.id))
    memory.forget(*{citation.source for _, one in given for citation in one.citations})
    ask("forgotten", "same", right)
    return found


def table(
    title: str,
    cases: Sequence[Case],
    firsts: Sequence[Answer | None],
    found: dict[tuple[str, str], Row],
) -> str:
    """One line for what was said and the kind of question, in Markdown."""
    right = [one for _, one, _ in found["not judged", "same"]]
    lines = [
        "",
        f"{title}: {len(cases)} questions, {sum(one is None for one in firsts)} without a reply; the first "
        f"answer is right for {len(right)}, wrong for {len(found['not judged', 'same, first wrong'])}; a right "
        f"one took {median(map(count, right)):,.0f} tokens and "
        f"{median(one.seconds['total'] for one in right) * 1000:,.0f} ms (medians).",
        "",
        "| first answer | second question | asked | from the past | of these right | tokens (median, most) "
        "| within a fifth | ms | tried in vain, tokens | open |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(row(verdict, name, rows) for (verdict, name), rows in found.items())])


def row(verdict: str, name: str, asked: Row) -> str:
    given = [(case, one, two) for case, one, two in asked if two.answer is not None]
    tokens = [two.tokens for *_, two in given]
    vain = [two.tokens for *_, two in asked if two.answer is None and two.tokens]
    return (
        f"| {verdict} | {name} | {len(asked)} | {len(given)} | {sum(hit(case, two.answer) for case, _, two in given)} "
        f"| {f'{median(tokens):,.0f}, {max(tokens):,}' if tokens else ''} "
        f"| {sum(5 * two.tokens <= count(one) for _, one, two in given)} "
        f"| {f'{median([two.seconds for *_, two in given]) * 1000:,.0f}' if given else ''} "
        f"| {f'{len(vain)}, {sum(vain) / len(vain):,.0f} each' if vain else '0'} "
        f"| {sum(two.open for *_, two in asked)} |"
    )


def hit(case: Case, answer: str | None) -> bool:
    return answer is not None and exact_match(answer, case.gold) == 1


if __name__ == "__main__":
    main()
