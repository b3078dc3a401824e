"""Have a language model judge answers beside EM and F1: LR-1, strict binary agreement, and LR-2, partial
credit of 0, 0.5 or 1, as GRASP does; of long gold answers also coverage, the share of their statements, as
GraphRAG-Bench does.

The papers' prompts are not used: these are ours, and so is what the judge gets: the question, the gold
answers and the answer, no documents. All is asked of every answer, also of one that equals the gold answer,
so that no verdict is ours. The answer is data that a document may have written: it is in one line, without
control tokens, between two lines that it cannot contain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.concurrency import map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import ReplyError
from gsw_graph.evaluate.data import Question, QuestionSet
from gsw_graph.evaluate.journal import Journal, Judgement, Outcome
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import fence, prompt

STAGE = "judge"  # of the ledger
# By metric: the prompt, the key of the reply, and what its values count; None: a share of statements.
FORMS: dict[str, tuple[str, str, dict[str, float] | None]] = {
    "lr1": ("judge_strict", "verdict", {"agree": 1.0, "disagree": 0.0}),
    "lr2": ("judge_partial", "credit", {"full": 1.0, "half": 0.5, "none": 0.0}),
    "coverage": ("judge_coverage", "covered", None),
}
_REPLY_TOKENS = 1000  # at most; a usual reply has 10
_MAX_TEXT = 1000  # characters of an answer, and of all gold answers together; of long ones four times that


def open_judge(settings: Settings, model: str, budget: Budget | None = None) -> Chat:
    """Open the judge at the server that the settings name. Raises InputError, ModelError."""
    judge = settings.for_role("judge")
    # a price in the settings is that of their own model
    price = judge.llm_price if model == judge.llm else None
    return Chat.open(replace(judge, llm=model, llm_price=price), budget=budget)


def judge_answers(
    chat: Chat,
    journal: Journal,
    questions: QuestionSet,
    names: Sequence[str],
    at_once: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[tuple[str, str], Judgement]:
    """Return the verdicts on all answers of a journal, by strategy and question, and keep new ones as they
    come.

    Args:
        chat: The judge.
        journal: Has the answers, and the verdicts of earlier runs.
        questions: With their gold answers.
        names: The strategies.
        at_once: Answers judged side by side.
        progress: Gets how many are asked and judged, and of how many.

    Raises:
        StoppedError: The judge answers no more.
    """
    pairs = [
        (question, row)
        for question in questions.questions
        for name in names
        if (row := journal.rows[name, question.key]).error is None and row.answer is not None
        if question.answerable and question.answers
    ]
    todo = [
        (question, row)
        for question, row in pairs
        if (verdict := journal.judged.get((chat.model, row.variant, row.key))) is None
        or verdict.error is not None
        or verdict.answer != row.answer
    ]
    answers = len(questions.questions) * len(names)
    total, before = answers + len(pairs), answers + len(pairs) - len(todo)
    try:
        if progress:
            progress(before, total)
        for number, verdict in enumerate(map_unordered(lambda pair: _judge(chat, *pair), todo, at_once), 1):
            journal.judge(verdict)
            if progress:
                progress(before + number, total)
    except BaseException:
        chat.stop()  # else the program would wait for all that are under way
        raise
    return {(row.variant, row.key): journal.judged[chat.model, row.variant, row.key] for _, row in pairs}


def judge_summary(model: str, verdicts: Sequence[Judgement]) -> dict[str, Any]:
    """Return who judged how many answers, and what that took."""
    dollars = [verdict.dollars for verdict in verdicts if verdict.dollars is not None]
    return {
        "model": model,
        "judged": sum(verdict.error is None for verdict in verdicts),
        "unjudged": sum(verdict.error is not None for verdict in verdicts),
        "tokens": {name: sum(each.tokens.get(name, 0) for each in verdicts) for name in ("in", "out")},
        "dollars": sum(dollars) if dollars else None,
    }


def _judge(chat: Chat, question: Question, row: Outcome) -> Judgement:
    answer, tokens = row.answer or "", {"in": 0, "out": 0}
    values: dict[str, float] = {}
    error = None
    forms = {metric: form for metric, form in FORMS.items() if form[2] or question.has_long_answer}
    try:
        for metric, (name, key, scale) in forms.items():
            reply = chat.ask(_request(name, key, scale, question, answer), _reader(key, scale))
            values[metric] = reply.value
            tokens["in"] += reply.prompt_tokens
            tokens["out"] += reply.completion_tokens
    except ReplyError as failure:
        values, error = {}, str(failure)  # both or none, so that they are of the same answers
    dollars = chat.dollars(tokens["in"], tokens["out"]) if any(tokens.values()) else None
    return Judgement(
        row.variant, row.key, chat.model, answer, **values, tokens=tokens, dollars=dollars, error=error
    )


def _request(name: str, key: str, scale: dict[str, float] | None, question: Question, answer: str) -> Request:
    longest = _MAX_TEXT * (4 if question.has_long_answer else 1)
    gold = " | ".join(dict.fromkeys(map(flat, question.answers)))
    case = (
        f"Question: {flat(question.question)}\n"
        f"Right answers: {gold[:longest]}\n"
        f"Answer to judge: {flat(answer)[:longest]}"
    )
    messages = (
        {"role": "system", "content": prompt(name)},
        {"role": "user", "content": fence("case", case)},
    )
    count: dict[str, Any] = {"type": "integer"}
    properties = (
        {"statements": count, key: count} if scale is None else {key: {"type": "string", "enum": [*scale]}}
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
    return Request(STAGE, messages, schema, limit=_REPLY_TOKENS)


def _reader(key: str, scale: dict[str, float] | None) -> Callable[[Any], float]:
    """Return what reads a verdict, and takes nothing else for one."""

    def read(reply: Any) -> float:
        fields = reply if isinstance(reply, dict) else {}
        verdict, statements = fields.get(key), fields.get("statements")
        if scale is None:
            if (
                not isinstance(statements, int)
                or not isinstance(verdict, int)
                or not 0 <= verdict <= statements
            ):
                raise ValueError('that is no count: write {"statements": 4, "covered": 3}, and nothing else')
            return verdict / max(1, statements)
        if not isinstance(verdict, str) or verdict.strip().lower() not in scale:
            wanted = " or ".join(f'{{"{key}": "{value}"}}' for value in scale)
            raise ValueError(f"that is no verdict: write {wanted}, and nothing else")
        return scale[verdict.strip().lower()]

    return read
