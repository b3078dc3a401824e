"""Questions with what is known about them, from a file of any shape that `shapes` reads."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.shapes import Record, record
from gsw_graph.model import Failure

_SHAPE = (
    "Give JSON or JSON lines of MuSiQue, HotpotQA, 2WikiMultiHopQA, PopQA, NQ, LV-Eval, or our "
    "own: "
    '{"id", "question", "answers", "passages" or "sources"}'
)
_LISTS = ("questions", "data")  # keys under which an object keeps its records
OF_ONE = ("id", "_id", "question")  # keys of an object that is a record itself


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A record with a `key` that no other question of its file has; ids may repeat, as those of MuSiQue's
    unanswerable questions do."""

    key: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a file in their order, what could not be read, and the file's name and hash
    (SHA-256 of its bytes)."""

    questions: list[Question]
    failures: list[Failure] = field(default_factory=list)
    name: str = ""
    sha256: str = ""

    @property
    def shapes(self) -> dict[str, int]:
        """How many questions have the shape of which data set."""
        return dict(sorted(Counter(question.shape for question in self.questions).items()))


def read_questions(path: str | Path) -> QuestionSet:
    """The questions of a file. InputError: it cannot be read, or not one question is in it; a record that
    is none is a failure, and the rest is read."""
    where = str(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"the questions cannot be read ({error.strerror or error})", where=where, hint=_SHAPE
        ) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the questions are not in UTF-8 (byte {error.start})", where=where, hint="Save them as UTF-8"
        ) from error
    if not text.strip():
        raise InputError("the file is empty", where=where, hint=_SHAPE)
    return question_set(parsed(text, where), where, hashlib.sha256(data).hexdigest())


def question_set(values: list[tuple[str, object]], name: str = "", sha256: str = "") -> QuestionSet:
    """The questions among some JSON values, each of which has a place for messages. InputError: there are
    none."""
    questions: list[Question] = []
    failures: list[Failure] = []
    taken: set[str] = set()
    for number, (place, value) in enumerate(values, 1):
        try:
            found = value if isinstance(value, Failure) else record(value, str(number))
        except InputError as error:
            found = Failure(place, str(error))
        if isinstance(found, Failure):
            failures.append(found)
            continue
        key, again = found.id, 1
        while key in taken:
            again += 1
            key = f"{found.id}#{again}"
        taken.add(key)
        questions.append(
            Question(**{name: getattr(found, name) for name in Record.__dataclass_fields__}, key=key)
        )
    if not questions:
        reason = f": {failures[0].reason}" if failures else ""
        raise InputError(f"there are no questions{reason}", where=name or None, hint=_SHAPE)
    return QuestionSet(questions, failures, name, sha256)


def parsed(text: str, where: str) -> list[tuple[str, object]]:
    """The JSON values of an array, of the list in an object, of an object that is a record itself, or of
    lines, each with its place.

    A Failure where a line is broken. InputError: it is no JSON.
    """
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" and not text.lstrip().startswith("{"):
            raise InputError(
                f"broken JSON: {error.msg} at line {error.lineno} column {error.colno}",
                where=where,
                hint=_SHAPE,
            ) from error
        return [
            _line(line, f"{where}:{number}")
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    except (ValueError, RecursionError) as error:
        raise InputError("JSON that cannot be read", where=where, hint=_SHAPE) from error
    if isinstance(whole, dict):
        lists = () if any(key in whole for key in OF_ONE) else _LISTS
        whole = next((whole[key] for key in lists if isinstance(whole.get(key), list)), [whole])
    if not isinstance(whole, list):
        raise InputError("the questions have no shape that is known", where=where, hint=_SHAPE)
    return [(f"{where}: record {number}", value) for number, value in enumerate(whole, 1)]


def _line(line: str, place: str) -> tuple[str, object]:
    try:
        return place, json.loads(line)
    except (ValueError, RecursionError) as error:
        return place, Failure(place, f"broken JSON: {error}")
