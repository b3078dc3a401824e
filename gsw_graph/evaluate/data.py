"""Read questions with known answers, whatever data set they are from, and the plans that go with them.

Each field is looked for under the keys that the data sets publish it under. MuSiQue: `paragraphs` with
`is_supporting`, `question_decomposition`, `answer_aliases`, `answerable`. HotpotQA and 2WikiMultiHopQA:
`_id`, `supporting_facts`, `context`. PopQA and NQ as HippoRAG 2 publishes them: `paragraphs` or `contexts`,
answers in `obj` and beside it or in `reference`. LV-Eval: `input` or `question`, `answers`, no gold
passages. Ours: `id`, `question`, `answers`, `passages`, `sources`, `plan`, `answerable`, `hops`."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.variants import find_strategy
from gsw_graph.model.documents import Failure

# The first of these keys that a record has holds its answers; beside some keys there are more.
_ANSWERS = (
    ("answer", ()),
    ("gold_ans", ()),
    ("reference", ()),
    ("obj", ("possible_answers", "o_wiki_title", "o_aliases")),
    ("possible_answers", ()),
    ("answers", ()),
)
_JSON_TEXT = ("possible_answers", "o_aliases")  # PopQA writes these lists as text
_NO_ANSWER = {"no answer", "n/a"}  # in Panini's Platinum sets where there is none
_TWO_WIKI = {"compositional", "inference", "bridge_comparison"}  # types that HotpotQA does not have
_LISTS = ("questions", "data")  # keys under which an object keeps its records
_RECORD_KEYS = ("id", "_id", "question")  # keys of an object that is a record itself
_SHAPE = (
    "Give JSON or JSON lines of MuSiQue, HotpotQA, 2WikiMultiHopQA, PopQA, NQ, LV-Eval, or our own: "
    '{"id", "question", "answers", "passages" or "sources"}'
)
PLAN_SOURCES = ("gold", "none", "model")
_PLAN_KEYS = ("plan", "question_decomposition", "questions")
_PLAN_SHAPE = (
    'Give {"id or question": plan, ...}, or records with "id" or "question" and "plan", in an array or one '
    "a line"
)


@dataclass(frozen=True, slots=True)
class Gold:
    """One passage that must be retrieved: by its title and text (without a title by either), or by the source
    of its document (whole, or the end of a path)."""

    title: str = ""
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of it.

    Attributes:
        answers: Any of them is right.
        gold: What must be retrieved.
        answerable: Whether the corpus holds the answer.
        plan: The gold decomposition as it was written.
        hops: Steps of the gold decomposition, else supporting titles; None where a record does not tell.
        shape: The data set whose keys the record has.
        key: As the id, but unique in its file; ids of MuSiQue's unanswerable questions repeat.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    answerable: bool = True
    plan: object = None
    hops: int | None = None
    shape: str = "own"
    key: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a file in their order, records that could not be read, and the file's name and
    SHA-256."""

    questions: list[Question]
    failures: list[Failure] = field(default_factory=list)
    name: str = ""
    sha256: str = ""

    @property
    def shapes(self) -> dict[str, int]:
        """Count questions by data set."""
        return dict(sorted(Counter(question.shape for question in self.questions).items()))

    def subset(self, limit: int | None = None, sample: int | None = None, seed: int = 0) -> QuestionSet:
        """Return some of the questions, in their order.

        Args:
            limit: The first so many.
            sample: So many at random, of those.
            seed: The same seed draws the same questions.
        """
        questions = self.questions[:limit]
        if sample is not None and sample < len(questions):
            drawn = random.Random(seed).sample(range(len(questions)), sample)  # noqa: S311 - no secret
            questions = [questions[number] for number in sorted(drawn)]
        if len(questions) == len(self.questions):
            return self
        return replace(self, questions=questions, name=f"{self.name} ({len(questions):,} of them)")


def read_questions(path: str | Path) -> QuestionSet:
    """Read the questions of a file. A record that is none is a failure, and the rest is read.

    Raises:
        InputError: The file cannot be read, or not one question is in it.
    """
    text, sha256 = _read_text(path, "questions", _SHAPE)
    if not text.strip():
        raise InputError("the file is empty", where=str(path), hint=_SHAPE)
    return question_set(json_values(text, str(path)), str(path), sha256)


def question_set(values: list[tuple[str, object]], name: str = "", sha256: str = "") -> QuestionSet:
    """Read questions from JSON values, each of which has a place for messages. InputError: there are none."""
    questions: list[Question] = []
    failures: list[Failure] = []
    times: Counter[str] = Counter()
    keys: set[str] = set()
    for number, (place, value) in enumerate(values, 1):
        try:
            question = value if isinstance(value, Failure) else read_record(value, str(number))
        except InputError as error:
            question = Failure(place, str(error))
        if isinstance(question, Failure):
            failures.append(question)
            continue
        key = question.id
        while key in keys:
            times[question.id] += 1
            key = f"{question.id}#{times[question.id] + 1}"
        keys.add(key)
        questions.append(replace(question, key=key))
    if not questions:
        reason = f": {failures[0].reason}" if failures else ""
        raise InputError(f"there are no questions{reason}", where=name or None, hint=_SHAPE)
    return QuestionSet(questions, failures, name, sha256)


def json_values(text: str, where: str) -> list[tuple[str, object]]:
    """Return the JSON values of an array, of the list in an object, of an object that is a record itself, or
    of lines, each with its place; a Failure for a broken line. InputError: it is no JSON."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" and not text.lstrip().startswith("{"):
            place = f"line {error.lineno} column {error.colno}"
            raise InputError(f"broken JSON: {error.msg} at {place}", where=where, hint=_SHAPE) from error
        lines = enumerate(text.split("\n"), 1)
        return [_json_line(line, f"{where}:{number}") for number, line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise InputError("JSON that cannot be read", where=where, hint=_SHAPE) from error
    if isinstance(whole, dict):
        lists = () if any(key in whole for key in _RECORD_KEYS) else _LISTS
        whole = next((whole[key] for key in lists if isinstance(whole.get(key), list)), [whole])
    if not isinstance(whole, list):
        raise InputError("the questions have no shape that is known", where=where, hint=_SHAPE)
    return [(f"{where}: record {number}", value) for number, value in enumerate(whole, 1)]


def read_record(value: object, number: str) -> Question:
    """Read one record; `number` is its id where it has none. InputError: it is no question, or a field has
    not the type that it must have."""
    if not isinstance(value, Mapping):
        raise InputError("not a record")
    question = value.get("question", value.get("input"))
    if not isinstance(question, str) or not question.strip():
        raise InputError("no `question`")
    id = value.get("id", value.get("_id"))
    answers = tuple(dict.fromkeys(_read_answers(value)))
    answerable = value.get("answerable")
    if answerable is None:
        answerable = not answers or not all(answer.strip().casefold() in _NO_ANSWER for answer in answers)
    if not isinstance(answerable, bool):
        raise InputError("`answerable` is neither true nor false")
    plan = value.get("plan", value.get("question_decomposition"))
    return Question(
        number if id in (None, "") else str(id),
        question.strip(),
        answers if answerable else (),
        tuple(dict.fromkeys(_read_gold(value))),
        answerable,
        plan,
        _read_hops(value, plan),
        _shape_of(value),
    )


@dataclass(frozen=True)
class Plans:
    """The plan of each question by its key; `kind` is one of PLAN_SOURCES or `file`, and a hash tells two
    files apart."""

    kind: str = "none"
    by_key: Mapping[str, object] = field(default_factory=dict)
    sha256: str = ""

    def of(self, question: Question, strategy: str, *, model: bool) -> object:
        """Return what `Memory.ask` gets as plan: a plan; None, whereupon a language model may make one; False
        where none may be made, though a model answers."""
        if self.kind == "model" or not find_strategy(strategy).follows_plan:
            return None
        return self.by_key.get(question.key, False if model else None)


def read_plans(source: str, questions: QuestionSet) -> Plans:
    """Read plans from one of PLAN_SOURCES or a file. InputError: it has none for these questions, or cannot
    be read."""
    if source in ("none", "model"):
        return Plans(source)
    if source == "gold":
        gold = {question.key: question.plan for question in questions.questions if question.plan is not None}
        if not gold:
            hint = 'Use --plans none, model or a file with plans, or put a "plan" into the records'
            raise InputError("the questions have no gold plans", where=questions.name or None, hint=hint)
        return Plans("gold", gold)
    text, sha256 = _read_text(source, "plans", f"Use {', '.join(PLAN_SOURCES)} or a file")
    named = _named_plans(text, source)
    by_key = {
        question.key: named[name]
        for question in questions.questions
        for name in (question.question, question.id, question.key)
        if name in named
    }
    if not by_key:
        raise InputError(
            "no plan in the file belongs to one of the questions", where=source, hint=_PLAN_SHAPE
        )
    return Plans("file", by_key, sha256)


def _read_text(path: str | Path, what: str, hint: str) -> tuple[str, str]:
    """Return the text of a file and the SHA-256 of its bytes."""
    try:
        data = Path(path).read_bytes()
        return data.decode("utf-8-sig"), hashlib.sha256(data).hexdigest()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"the {what} cannot be read ({reason})", where=str(path), hint=hint) from error
    except UnicodeDecodeError as error:
        message = f"the {what} are not in UTF-8 (byte {error.start})"
        raise InputError(message, where=str(path), hint="Save them as UTF-8") from error


def _json_line(line: str, place: str) -> tuple[str, object]:
    try:
        return place, json.loads(line)
    except (ValueError, RecursionError) as error:
        return place, Failure(place, f"broken JSON: {error}")


def _read_answers(value: Mapping[str, object]) -> Iterator[str]:
    first = next((names for names in _ANSWERS if value.get(names[0]) is not None), None)
    for key in (first[0], *first[1], "answer_aliases") if first else ():
        answers = value.get(key)
        if key in _JSON_TEXT and isinstance(answers, str) and answers.lstrip().startswith("["):
            try:
                answers = json.loads(answers)
            except ValueError:
                raise InputError(f"`{key}` is text that is no JSON") from None
        for answer in answers if isinstance(answers, list) else [] if answers is None else [answers]:
            if not isinstance(answer, str | int | float) or isinstance(answer, bool):
                raise InputError(f"`{key}` has an answer that is not text")
            yield str(answer)


def _read_gold(value: Mapping[str, object]) -> Iterator[Gold]:
    """Read the supporting passages as HippoRAG 2 does (`get_gold_docs`); the white space between sentences,
    which differs between its two sets, is not compared."""
    if "supporting_facts" in value:
        titles = _supporting_titles(value)
        for passage in _pairs(value, "context", "sentences"):
            if (title := _text(passage, 0, "context")) in titles:
                sentences = passage[1] if isinstance(passage, list) and len(passage) > 1 else None
                if not isinstance(sentences, list) or not all(isinstance(part, str) for part in sentences):
                    raise InputError("`context` has a passage that is not [title, [sentence, ...]]")
                yield Gold(title, " ".join(sentences))
    for key in ("contexts", "paragraphs"):
        for passage in _list(value, key):
            if not isinstance(passage, Mapping):
                raise InputError(f"`{key}` has an entry that is not a record")
            if passage.get("is_supporting", True):
                text = "text" if "text" in passage else "paragraph_text"
                yield Gold(_text(passage, "title", key), _text(passage, text, key))
    for passage in _list(value, "passages"):
        title = "" if isinstance(passage, str) else _text(passage, "title", "passages")
        yield Gold(title, passage if isinstance(passage, str) else _text(passage, "text", "passages"))
    for key in ("sources", "supporting"):
        for source in _list(value, key):
            if not isinstance(source, str):
                raise InputError(f"`{key}` has an entry that is not text")
            yield Gold(source=source)


def _supporting_titles(value: Mapping[str, object]) -> set[str]:
    return {_text(fact, 0, "supporting_facts") for fact in _pairs(value, "supporting_facts", "sent_id")}


def _pairs(value: Mapping[str, object], key: str, second: str) -> list[object]:
    """Return a list of [title, something], also where it is written as a record of two lists, as Hugging
    Face's copies have it."""
    pairs = value.get(key)
    if not isinstance(pairs, Mapping):
        return _list(value, key)
    titles, others = _list(pairs, "title"), _list(pairs, second)
    if len(titles) != len(others):
        raise InputError(f"`{key}` has {len(titles)} titles and {len(others)} of `{second}`")
    return [list(pair) for pair in zip(titles, others, strict=True)]


def _list(value: Mapping[str, object], key: str) -> list[object]:
    items = value.get(key)
    if items is not None and not isinstance(items, list):
        raise InputError(f"`{key}` is not a list")
    return items or []


def _text(value: Any, key: str | int, where: str) -> str:
    """Return the text under a key of a record, or at a place of a list."""
    try:
        text = value[key]
    except (KeyError, IndexError, TypeError):
        text = None
    if not isinstance(text, str) or isinstance(value, str):
        name = f"`{key}`" if isinstance(key, str) else "a title"
        raise InputError(f"`{where}` has an entry without {name}")
    return text


def _read_hops(value: Mapping[str, object], plan: object) -> int | None:
    hops = value.get("hops")
    if isinstance(hops, int) and not isinstance(hops, bool):
        return hops
    if isinstance(plan, list):
        return len(plan) or None
    if "supporting_facts" in value:
        return len(_supporting_titles(value)) or None
    return 1 if "obj" in value or "reference" in value or "possible_answers" in value else None


def _shape_of(value: Mapping[str, object]) -> str:
    if "supporting_facts" in value:
        return "2wikimultihopqa" if "evidences" in value or value.get("type") in _TWO_WIKI else "hotpotqa"
    for shape, keys in (
        ("popqa", ("obj", "possible_answers")),
        ("nq", ("reference",)),
        ("musique", ("paragraphs",)),
        ("lveval", ("input", "answer_keywords", "confusing_facts")),
    ):
        if any(key in value for key in keys):
            return shape
    return "own"


def _named_plans(text: str, path: str) -> dict[str, object]:
    """Return plans by the id or the text of their question."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None  # lines, or broken
    if isinstance(whole, dict) and not any(key in whole for key in _RECORD_KEYS):
        return whole
    plans: dict[str, object] = {}
    for place, value in json_values(text, path):
        if isinstance(value, Failure):
            raise InputError(value.reason, where=place, hint=_PLAN_SHAPE)
        record = value if isinstance(value, dict) else {}
        names = [record[key] for key in _RECORD_KEYS if key in record]
        plan = next((record[key] for key in _PLAN_KEYS if key in record), None)
        if not names or plan is None:
            raise InputError("a record names no question, or has no plan", where=place, hint=_PLAN_SHAPE)
        plans |= {str(name): plan for name in names}
    return plans
