"""Let a language model judge answers, in addition to EM and F1: LR-1, strict binary agreement, and LR-2,
partial credit of 0, 0.5 or 1, as in GRASP; for long gold answers also coverage, the share of their
statements, as in GraphRAG-Bench.

The prompts are ours, not the papers'. The judge gets the question, the gold answers and the answer, but no
documents. Every answer is judged, even if it equals the gold answer, so that no verdict is ours. The answer
is data that a document may have written: it is in one line, without control tokens, between two lines that it
cannot contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from gsw_graph.ask.answer.evidence import single_line
from gsw_graph.concurrency import map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import InvalidReplyError
from gsw_graph.evaluate.data import Question, QuestionSet
from gsw_graph.evaluate.journal import Journal, Judgement, Outcome, Verdicts
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import fence, prompt
from gsw_graph.values import Fields

STAGE = "judge"  # of the ledger
_REPLY_TOKENS = 1000  # at most; a usual reply has 10
_MAX_TEXT = 1000  # characters of an answer, and of all gold answers together
_MAX_LONG_TEXT = 4000
Progress: TypeAlias = Callable[[int, int], None]
"""Gets how many are done, and of how many."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Form:
    """Hold a form of judging: its prompt, the key of the verdict in the reply, and the values of verdicts.
    Without values the verdict is a number of statements, which the reply counts too."""

    prompt: str
    key: str
    scale: Mapping[str, float]

    def read(self, reply: Any) -> float:
        """Return the value of a reply. ValueError: it is no verdict."""
        fields = reply if isinstance(reply, dict) else {}
        verdict = fields.get(self.key)
        if self.scale:
            value = self.scale.get(verdict.strip().lower()) if isinstance(verdict, str) else None
            if value is None:
                wanted = " or ".join(f'{{"{self.key}": "{value}"}}' for value in self.scale)
                raise ValueError(f"that is no verdict: write {wanted}, and nothing else")
            return value
        statements = fields.get("statements")
        if isinstance(statements, int) and isinstance(verdict, int) and 0 <= verdict <= statements:
            return verdict / max(1, statements)
        raise ValueError('that is no count: write {"statements": 4, "covered": 3}, and nothing else')


FORMS = {  # by metric
    "lr1": Form("judge_strict", "verdict", {"agree": 1.0, "disagree": 0.0}),
    "lr2": Form("judge_partial", "credit", {"full": 1.0, "half": 0.5, "none": 0.0}),
    "coverage": Form("judge_coverage", "covered", {}),
}


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
    progress: Progress,
) -> Verdicts:
    """Return the verdicts on all answers of a journal. New verdicts are written as they arrive.

    Args:
        chat: The judge.
        journal: The answers, and the verdicts of earlier runs.
        questions: Questions with their gold answers.
        names: Names of the strategies.
        at_once: Number of answers judged at the same time.
        progress: Gets the numbers of finished and of all answers.

    Raises:
        ModelUnavailableError: The judge will answer no more requests.
    """
    verdicts: Verdicts = {}
    todo: list[tuple[Question, Outcome]] = []
    for question in questions.questions:
        for name in names:
            row = journal.rows[name, question.key]
            if row.answer is None or not question.answerable or not question.answers:
                continue
            verdict = journal.judged.get((chat.model, name, row.key))
            if verdict is None or verdict.error is not None or verdict.answer != row.answer:
                todo.append((question, row))
            else:
                verdicts[name, row.key] = verdict
    done = len(questions.questions) * len(names) + len(verdicts)
    total = done + len(todo)
    try:
        progress(done, total)
        for verdict in map_unordered(lambda pair: _judge(chat, *pair), todo, at_once):
            journal.judge(verdict)
            verdicts[verdict.variant, verdict.key] = verdict
            done += 1
            progress(done, total)
    except BaseException:
        chat.stop()  # else the program would wait for all that are under way
        raise
    return verdicts


def judge_summary(model: str, verdicts: Sequence[Judgement]) -> Fields:
    """Return the judge, the number of judged answers, and the costs."""
    dollars = [verdict.dollars for verdict in verdicts if verdict.dollars is not None]
    unjudged = sum(verdict.error is not None for verdict in verdicts)
    tokens = Counter({"in": 0, "out": 0})
    for verdict in verdicts:
        tokens.update(verdict.tokens)
    return {
        "model": model,
        "judged": len(verdicts) - unjudged,
        "unjudged": unjudged,
        "tokens": dict(tokens),
        "dollars": sum(dollars) if dollars else None,
    }


def _judge(chat: Chat, question: Question, row: Outcome) -> Judgement:
    answer = row.answer or ""
    tokens = {"in": 0, "out": 0}
    values: dict[str, float] = {}
    error = None
    try:
        for metric, form in FORMS.items():
            if form.scale or question.has_long_answer:
                reply = chat.ask(_request(form, question, answer), form.read)
                values[metric] = reply.value
                tokens["in"] += reply.prompt_tokens
                tokens["out"] += reply.completion_tokens
    except InvalidReplyError as failure:
        values.clear()  # all or none, so that they are of the same answers
        error = str(failure)
    dollars = chat.dollars(tokens["in"], tokens["out"]) if any(tokens.values()) else None
    return Judgement(
        row.variant, row.key, chat.model, answer, **values, tokens=tokens, dollars=dollars, error=error
    )


def _request(form: Form, question: Question, answer: str) -> Request:
    longest = _MAX_LONG_TEXT if question.has_long_answer else _MAX_TEXT
    gold = " | ".join(dict.fromkeys(map(single_line, question.answers)))
    case = (
        f"Question: {single_line(question.question)}\n"
        f"Right answers: {gold[:longest]}\n"
        f"Answer to judge: {single_line(answer)[:longest]}"
    )
    messages = (
        {"role": "system", "content": prompt(form.prompt)},
        {"role": "user", "content": fence("case", case)},
    )
    properties: Fields = {"statements": {"type": "integer"}, form.key: {"type": "integer"}}
    if form.scale:
        properties = {form.key: {"type": "string", "enum": list(form.scale)}}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Request(STAGE, messages, schema, limit=_REPLY_TOKENS)
