"""Where the plans of an evaluation come from: the gold decompositions of the data set, a file, the
language model, or nowhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.questions import OF_ONE, Question, QuestionSet, parsed
from gsw_graph.evaluate.settings import known
from gsw_graph.model import Failure

KINDS = ("gold", "none", "model")
_KEYS = ("plan", "question_decomposition", "questions")
_SHAPE = (
    'Give {"id or question": plan, ...}, or records with "id" or "question" and "plan", in an '
    "array "
    "or one a line"
)


@dataclass(frozen=True)
class Plans:
    """The plan of each question by its key; `kind` is one of KINDS or `file`, and a hash tells two files
    apart."""

    kind: str = "none"
    by_key: Mapping[str, object] = field(default_factory=dict)
    sha256: str = ""

    def of(self, question: Question, strategy: str, *, model: bool) -> object:
        """What `Memory.ask` gets as plan: a plan; None, whereupon a language model may make one; False
        where none may be made, though one answers (`model`)."""
        if self.kind == "model" or not follows_plans(strategy):
            return None
        return self.by_key.get(question.key, False if model else None)


def follows_plans(strategy: str) -> bool:
    """Whether a strategy can be asked with a plan. InputError: there is no such strategy."""
    return known(strategy).follows_plan


def plans(source: str, questions: QuestionSet) -> Plans:
    """The plans that `source` names: one of KINDS, or the path of a file. InputError: it has none for
    these questions, or cannot be read."""
    if source == "gold":
        found = {question.key: question.plan for question in questions.questions if question.plan is not None}
        if not found:
            hint = 'Use --plans none, model or a file with plans, or put a "plan" into the records'
            raise InputError("the questions have no gold plans", where=questions.name or None, hint=hint)
        return Plans("gold", found)
    return Plans(source) if source in KINDS else _from_file(source, questions)


def _from_file(path: str, questions: QuestionSet) -> Plans:
    try:
        data = Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"the plans cannot be read ({error.strerror or error})",
            where=path,
            hint=f"Use {', '.join(KINDS)} or a file",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"the plans are not in UTF-8 (byte {error.start})", where=path, hint="Save them as UTF-8"
        ) from error
    named = _named(text, path)
    found = {
        question.key: named[name]
        for question in questions.questions
        for name in (question.question, question.id, question.key)
        if name in named
    }
    if not found:
        raise InputError("no plan in the file belongs to one of the questions", where=path, hint=_SHAPE)
    return Plans("file", found, hashlib.sha256(data).hexdigest())


def _named(text: str, path: str) -> dict[str, object]:
    """Plans by the id or the text of their question."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None  # lines, or broken
    if isinstance(whole, dict) and not any(key in whole for key in OF_ONE):
        return whole
    found: dict[str, object] = {}
    for place, value in parsed(text, path):
        if isinstance(value, Failure):
            raise InputError(value.reason, where=place, hint=_SHAPE)
        names = [value[key] for key in OF_ONE if key in value] if isinstance(value, dict) else []
        plan = next((value[key] for key in _KEYS if key in value), None) if isinstance(value, dict) else None
        if not names or plan is None:
            raise InputError("a record names no question, or has no plan", where=place, hint=_SHAPE)
        found |= {str(name): plan for name in names}
    return found
