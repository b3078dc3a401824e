"""Answers judged by a language model, as GRASP does beside EM and F1: LR-1, strict binary agreement, and
LR-2, partial credit of 0, 0.5 or 1.

The paper names both and prints no prompts: the prompts are ours, and so is what the judge gets: the question,
the gold answers and the answer, no documents. Both are asked of every answer, also of one that equals the
gold answer, so that no verdict is ours. The answer is data that a document may have written: it stands in one
line, without control tokens, between two lines that it cannot contain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.answer.evidence import flat
from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.evaluate.data.questions import Question, QuestionSet
from gsw_graph.evaluate.journal import Journal, Judgement, Outcome
from gsw_graph.inference.chat.request import Reply, Request
from gsw_graph.model import content_id
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.inference.chat.chat import Chat

STAGE = "judge"  # of the ledger
STRICT = {"agree": 1.0, "disagree": 0.0}
PARTIAL = {"full": 1.0, "half": 0.5, "none": 0.0}
_LIMIT = 1000  # tokens of a reply; a usual one has 10
_LONGEST = 1000  # characters of an answer, and of all gold answers together


def open_judge(settings: Settings, model: str) -> Chat:
    """The judge, at the server that the settings name. A price in them is that of their own model. Raises
    InputError, ModelError."""
    from gsw_graph.inference.chat.chat import Chat

    if not model.strip():
        raise InputError("the judge has no name", hint="Name a model: --judge MODEL")
    price = settings.llm_price if model == settings.llm else None
    return Chat.open(replace(settings, llm=model, llm_price=price))


def to_judge(question: Question, row: Outcome) -> bool:
    """Whether there is something to judge: an answer to a question with gold answers."""
    return question.answerable and bool(question.answers) and row.error is None and row.answer is not None


def judged_by(
    chat: Chat,
    journal: Journal,
    questions: QuestionSet,
    names: Sequence[str],
    at_once: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[tuple[str, str], Judgement]:
    """What the judge says of all answers of a journal, by strategy and question: verdicts that stand there,
    and the others, so many asked for at the same time and kept as they come.

    progress: gets how many are asked and judged, and of how many. Raises StoppedError where the judge answers
    no more.
    """
    every = [
        (question, row)
        for question in questions.questions
        for name in names
        if to_judge(question, row := journal.rows[name, question.key])
    ]
    waiting = [
        (question, row)
        for question, row in every
        if (said := journal.judged.get((chat.model, row.variant, row.key))) is None
        or said.error is not None
        or said.answer != row.answer
    ]
    asked = len(questions.questions) * len(names)
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="gswgraph-judge")
    try:
        done = as_completed([pool.submit(_judged, chat, *case) for case in waiting])
        for number in range(len(waiting) + 1):
            if progress:
                progress(asked + len(every) - len(waiting) + number, asked + len(every))
            if number < len(waiting):
                journal.judge(next(done).result())
    except BaseException:
        chat.stop()  # else the program would wait for all that are under way
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return {(row.variant, row.key): journal.judged[chat.model, row.variant, row.key] for _, row in every}


def told(model: str, judged: Sequence[Judgement]) -> dict[str, Any]:
    """Who judged how many answers, and what that took."""
    known = [one.dollars for one in judged if one.dollars is not None]
    return {
        "model": model,
        "judged": sum(one.error is None for one in judged),
        "unjudged": sum(one.error is not None for one in judged),
        "tokens": {name: sum(one.tokens.get(name, 0) for one in judged) for name in ("in", "out")},
        "dollars": sum(known) if known else None,
    }


def _judged(chat: Chat, question: Question, row: Outcome) -> Judgement:
    answer = row.answer or ""
    found = Judgement(row.variant, row.key, chat.model, answer)
    try:
        asked = _request("strict", "verdict", STRICT, question, answer)
        strict = chat.ask(asked, _check("verdict", STRICT))
        found = _with(replace(found, lr1=strict.value), strict, chat)
        partial = chat.ask(
            _request("partial", "credit", PARTIAL, question, answer), _check("credit", PARTIAL)
        )
        return _with(replace(found, lr2=partial.value), partial, chat)
    except ReplyError as error:
        return replace(
            found, lr1=None, error=str(error)
        )  # both or none, so that they are of the same answers


def _with(found: Judgement, reply: Reply[float], chat: Chat) -> Judgement:
    """With what a reply took; a kept one counts as it did when it was asked for."""
    tokens = {
        "in": found.tokens.get("in", 0) + reply.prompt_tokens,
        "out": found.tokens.get("out", 0) + reply.completion_tokens,
    }
    return replace(found, tokens=tokens, dollars=chat.dollars(tokens["in"], tokens["out"]))


def _request(name: str, key: str, values: dict[str, float], question: Question, answer: str) -> Request:
    gold = " | ".join(dict.fromkeys(map(flat, question.answers)))
    case = (
        f"Question: {flat(question.question)}\n"
        f"Right answers: {gold[:_LONGEST]}\n"
        f"Answer to judge: {flat(answer)[:_LONGEST]}"
    )
    code = content_id("case", case)[:12]
    messages = (
        {"role": "system", "content": prompt(f"judge_{name}")},
        {"role": "user", "content": f"<<<case {code}\n{case}\ncase {code}>>>"},
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: {"type": "string", "enum": list(values)}},
        "required": [key],
        "additionalProperties": False,
    }
    return Request(STAGE, messages, schema, limit=_LIMIT)


def _check(key: str, values: dict[str, float]) -> Callable[[Any], float]:
    """Reads a verdict, and takes nothing else for one."""

    def check(reply: Any) -> float:
        said = reply.get(key) if isinstance(reply, dict) else None
        if not isinstance(said, str) or said.strip().lower() not in values:
            wanted = " or ".join(f'{{"{key}": "{value}"}}' for value in values)
            raise ValueError(f"that is no verdict: write {wanted}, and nothing else")
        return values[said.strip().lower()]

    return check
