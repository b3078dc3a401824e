"""Read questions with known answers from several data sets, with their plans and the corpus in their file.

Each field has the keys of the published data sets, from `data_sets.json`; docs/reproduce.md lists the sets.
The project's own keys are `id`, `question`, `answers`, `passages`, `sources`, `plan`, `answerable`, `hops`,
`type`, `scope` (the source of the only visible documents), `conversation`.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from gsw_graph.ask.retrieve.variants import find_strategy
from gsw_graph.errors import InputError
from gsw_graph.model.documents import Failure
from gsw_graph.values import Fields

Record: TypeAlias = Mapping[str, Any]
PassageRecord: TypeAlias = dict[str, str]
"""A passage as `load` reads it."""

_NO_ANSWER = {"no answer", "n/a"}  # in Panini's Platinum sets, if there is none
_ADVERSARIAL = 5  # the category of LoCoMo's questions that the conversation does not answer
_HINT = "docs/reproduce.md lists the data sets; or give lines of {id, question, answers, passages or sources}"
_PLAN_HINT = (
    'Give {"id or question": plan, ...}, or records with "id" or "question" and "plan", in an '
    "array or one a line"
)
_LONG = 10  # words of an answer above which it is judged by what it covers
_CONTEXT = re.compile(r"^#* ?Passage \d+:?\s*$", re.MULTILINE)
_SESSION = re.compile(r"session_\d+")
PLAN_SOURCES = ("gold", "none", "model")


@dataclass(frozen=True, slots=True)
class Gold:
    """Hold a passage that must be retrieved: by its title and text (without a title by either), or by the
    source of its document (whole, or the end of a path)."""

    title: str = ""
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Hold a question and its known answers.

    Attributes:
        answers: Right answers; each counts.
        gold: Passages that must be retrieved.
        answerable: Whether the corpus holds the answer.
        plan: The gold decomposition as written.
        hops: Steps of the gold decomposition, else supporting titles; None if a record does not say.
        shape: The data set whose keys the record has.
        key: The id, made unique in its file; ids of MuSiQue's unanswerable questions repeat.
        type: Type in the words of the data set.
        scope: Only documents of this source are searched (`scope`, `scope/...`, `scope#...`).
        conversation: The conversation of the question, if questions are asked in order.
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
    type: str = ""
    scope: str = ""
    conversation: str = ""

    @property
    def has_long_answer(self) -> bool:
        """Return whether the gold answer is more than a name or a phrase."""
        return bool(self.answers) and len(self.answers[0].split()) > _LONG


@dataclass(frozen=True)
class QuestionSet:
    """Hold the questions of a file in order, failures for unreadable records, and the name and SHA-256 of the
    file."""

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
            sample: So many at random, of the first.
            seed: The same seed draws the same questions.
        """
        questions = self.questions[:limit]
        if sample is not None and sample < len(questions):
            drawn = random.Random(seed).sample(range(len(questions)), sample)  # noqa: S311 - no secret
            questions = [questions[number] for number in sorted(drawn)]
        name = self.name
        if len(questions) < len(self.questions):
            name = f"{name} ({len(questions):,} of them)"
        return replace(self, questions=questions, name=name)


def read_questions(path: str | Path) -> QuestionSet:
    """Read the questions of a file. A record without a question is a failure; the others are read.

    Raises:
        InputError: The file cannot be read, or has no question.
    """
    text, sha256 = _read_text(path, _HINT)
    return question_set(_json_values(text, str(path)), str(path), sha256)


def question_set(values: list[tuple[str, object]], name: str = "", sha256: str = "") -> QuestionSet:
    """Read questions from JSON values, each with a place for messages. Raises InputError if there are
    none."""
    questions: list[Question] = []
    failures: list[Failure] = []
    keys: set[str] = set()
    number = 0
    for place, value in values:
        for record in _records(value):
            number += 1
            question = _read_record(record, str(number), place)
            if isinstance(question, Failure):
                failures.append(question)
                continue
            key = _unused(question.id, keys)
            keys.add(key)
            questions.append(replace(question, key=key))
    if not questions:
        reason = f": {failures[0].reason}" if failures else ""
        raise InputError(f"there are no questions{reason}", where=name or None, hint=_HINT)
    return QuestionSet(questions, failures, name, sha256)


def _unused(id_: str, keys: set[str]) -> str:
    key = id_
    repeat = 1
    while key in keys:
        repeat += 1
        key = f"{id_}#{repeat}"
    return key


def read_corpus(
    path: str | Path, size: int | None = None, seed: int = 0, *, own_context: bool = False
) -> list[PassageRecord]:
    """Return the passages in a file of questions, of conversations or of GraphRAG-Bench's texts, each once,
    as records for `load`; gold passages come first.

    Args:
        path: The file.
        size: Number of passages: gold passages, then random distractors. A larger size includes a smaller.
        seed: Seed for the order of the distractors.
        own_context: Whether each passage is a document of its question, with the question's `key` as source.

    Raises:
        InputError: There are no passages.
    """
    text, _ = _read_text(path, _HINT)
    found: dict[str, PassageRecord] = {}
    gold: set[str] = set()
    keys: set[str] = set()
    for number, (where, record) in enumerate(_json_values(text, str(path)), 1):
        if not isinstance(record, Mapping):
            continue
        source = id_ = _id(record, str(number))
        if own_context:
            if isinstance(_read_record(record, str(number), where), Failure):
                continue
            source = _unused(id_, keys)  # as of the question
            keys.add(source)
        for place, (is_gold, passage) in enumerate(_passages(record, id_)):
            if own_context and "source" not in passage:
                passage = _document(source, place, **passage)
            key = json.dumps(passage)
            found[key] = passage
            if is_gold:
                gold.add(key)
    if not found:
        raise InputError("there are no passages in this file", where=str(path), hint=_HINT)
    order = list(found)
    if size is not None:
        random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    order.sort(key=lambda key: key not in gold)
    return [found[key] for key in order[:size]]


@dataclass(frozen=True)
class Plans:
    """Hold the plan of each question by its key. `kind` is one of PLAN_SOURCES or `file`; a hash tells two
    files apart."""

    kind: str = "none"
    by_key: Mapping[str, object] = field(default_factory=dict)
    sha256: str = ""

    def of(self, question: Question, strategy: str, *, model: bool) -> object:
        """Return the plan argument for `Memory.ask`: a plan; None if a language model may make a plan; False
        if no plan may be made, though a model answers."""
        if self.kind == "model" or not find_strategy(strategy).follows_plan:
            return None
        return self.by_key.get(question.key, False if model else None)


def read_plans(source: str, questions: QuestionSet) -> Plans:
    """Read plans from one of PLAN_SOURCES or a file, such as `trace.jsonl` of a run. Raises InputError if the
    file cannot be read or has no plan for these questions."""
    if source in ("none", "model"):
        return Plans(source)
    by_key: dict[str, object] = {}
    if source == "gold":
        for question in questions.questions:
            if question.plan is not None:
                by_key[question.key] = question.plan
        if not by_key:
            hint = 'Use --plans none, model or a file with plans, or put a "plan" into the records'
            raise InputError("the questions have no gold plans", where=questions.name or None, hint=hint)
        return Plans("gold", by_key)
    text, sha256 = _read_text(source, f"Use {', '.join(PLAN_SOURCES)} or a file")
    plans = _named_plans(text, source)
    for question in questions.questions:
        for name in (question.question, question.id, question.key):
            if name in plans:
                by_key[question.key] = plans[name]
    if not by_key:
        raise InputError("no plan in the file belongs to one of the questions", where=source, hint=_PLAN_HINT)
    return Plans("file", by_key, sha256)


def _named_plans(text: str, path: str) -> Mapping[str, object]:
    """Return plans by the id or the text of their question; records without a plan are left out."""
    records = [value for _, value in _json_values(text, path) if isinstance(value, dict)]
    names = {"id", "_id", "question"}
    if len(records) == 1 and names.isdisjoint(records[0]):
        return records[0]
    plans: dict[str, object] = {}
    for record in records:
        plan = _first(record, "plan") or record.get("questions")
        if plan is not None:
            for name in names & record.keys():
                plans[str(record[name])] = plan
    return plans


def _read_text(path: str | Path, hint: str) -> tuple[str, str]:
    """Return the text of a file and the SHA-256 of its bytes."""
    try:
        data = Path(path).read_bytes()
        return data.decode("utf-8-sig"), hashlib.sha256(data).hexdigest()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file cannot be read ({reason})", where=str(path), hint=hint) from error


def _json_values(text: str, where: str) -> list[tuple[str, object]]:
    """Return the JSON values of an array, of the list in an object, of an object that is a record itself, or
    of lines, each with its place; a Failure for a broken line. InputError: it is no JSON."""
    whole = _json(text, where)
    if isinstance(whole, Failure):
        if not text.lstrip().startswith("{"):
            raise InputError(f"this is no JSON ({whole.reason})", where=where, hint=_HINT)
        values = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                place = f"{where}:{number}"
                values.append((place, _json(line, place)))
        return values
    if isinstance(whole, dict):
        is_record = _first(whole, "question") is not None or _first(whole, "id") is not None
        records = None if is_record else _first(whole, "list of records")
        whole = records if isinstance(records, list) else [whole]
    if not isinstance(whole, list):
        raise InputError("the questions have no shape that is known", where=where, hint=_HINT)
    return [(f"{where}: record {number}", value) for number, value in enumerate(whole, 1)]


def _json(text: str, place: str) -> Any:
    """Return the value of a JSON text, or a Failure."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return Failure(place, f"broken JSON: {error}")


def _records(value: Any) -> list[Any]:
    """Return the records of a value: one, or a LoCoMo conversation's questions."""
    if not isinstance(value, Mapping) or "conversation" not in value or not isinstance(value.get("qa"), list):
        return [value]
    scope = _talk(value)
    records = []
    for number, record in enumerate(value["qa"], 1):
        evidence = record.get("evidence", ())
        own = {
            "dialogue": scope,
            "id": f"{scope}-{number}",
            "answerable": record.get("category") != _ADVERSARIAL,
            "sources": [f"{scope}#{turn}" for turn in evidence],
            "hops": len(evidence) or None,
            "scope": scope,
            "conversation": scope,
        }
        records.append({**record, **own})
    return records


def _read_record(value: Any, number: str, place: str) -> Question | Failure:
    """Read one record; `number` is its id if it has none."""
    if isinstance(value, Failure):
        return value
    if not isinstance(value, Mapping):
        return Failure(place, "not a record")
    question = _first(value, "question")
    if not isinstance(question, str) or not question.strip():
        return Failure(place, "no `question`")
    shape = "own"
    for name, keys in _data_sets()["shapes"].items():
        if not value.keys().isdisjoint(keys):
            shape = name
            break
    try:
        return _question(value, question.strip(), number, shape)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return Failure(place, f"a field has another form than in {shape}: {type(error).__name__}: {error}")


def _question(record: Record, question: str, number: str, shape: str) -> Question:
    id_ = _id(record, number)
    if date := record.get("question_date"):
        question = f"{question} (asked on {date})"
    answers = tuple(dict.fromkeys(_read_answers(record)))
    answerable = record.get("answerable")
    if answerable is None:
        is_refused = bool(answers) and _NO_ANSWER.issuperset(map(str.casefold, map(str.strip, answers)))
        is_abstention = shape == "longmemeval" and id_.endswith("_abs")
        answerable = not is_refused and not is_abstention
    if not isinstance(answerable, bool):
        raise TypeError("`answerable` is neither true nor false")
    plan = _first(record, "plan")
    scope = str(record.get("scope") or _scope(record, id_, shape))
    conversation = scope if shape == "graphrag-bench" else ""  # the questions about a novel
    return Question(
        id_,
        question,
        answers if answerable else (),
        tuple(dict.fromkeys(_read_gold(record, id_))),
        answerable,
        plan,
        _read_hops(record, plan),
        shape,
        type=str(_first(record, "type") or ""),
        scope=scope,
        conversation=str(record.get("conversation") or conversation),
    )


@cache
def _data_sets() -> Fields:
    """Return the keys of fields by the name of the field, and under `shapes` the keys that only one data set
    has."""
    keys: Fields = json.loads((files("gsw_graph.evaluate") / "data_sets.json").read_text("utf-8"))
    return keys


def _first(record: Record, field: str) -> Any:
    """Return the value under the first key of a field that a record has."""
    for key in _data_sets()[field]:
        if record.get(key) is not None:
            return record[key]
    return None


def _id(record: Record, number: str) -> str:
    return str(_first(record, "id") or number)


def _talk(record: Record) -> str:
    """Return the name of a LoCoMo conversation."""
    return str(record.get("sample_id", "conversation"))


def _scope(record: Record, id_: str, shape: str) -> str:
    """Return the source of what alone a question may see: its own context, or GraphRAG-Bench's novel."""
    if shape == "graphrag-bench" and record.get("source"):
        return _text(record["source"])
    has_own_context = isinstance(record.get("context"), str) or shape == "longmemeval"
    return id_ if has_own_context else ""


def _read_answers(record: Record) -> Iterator[str]:
    keys = _data_sets()
    first = _first(record, "answer")
    yield from _answer_texts(first)
    has_others = first is None or "obj" in record  # the keys of PopQA count beside its own answer alone
    for key in keys["more answers"]:
        answers = record.get(key) if has_others or key == "answer_aliases" else None
        if isinstance(answers, str) and key in keys["answers as JSON text"] and answers.lstrip()[:1] == "[":
            answers = json.loads(answers)
        yield from _answer_texts(answers)


def _answer_texts(value: Any) -> Iterator[str]:
    """Yield the texts of an answer, which may be true or false, a list, or a record with aliases."""
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, Mapping):
        yield _text(_first(value, "text of an answer"))
        yield from _answer_texts(_first(value, "aliases of an answer"))
    elif isinstance(value, list):
        for item in value:
            yield from _answer_texts(item)
    elif value is not None:
        yield str(value)


def _read_gold(record: Record, id_: str) -> Iterator[Gold]:
    """Read the supporting passages as HippoRAG 2 does (`get_gold_docs`); the white space between sentences,
    which differs between its two sets, is not compared."""
    for is_gold, passage in _passages(record, id_):
        if is_gold:
            yield Gold(passage["title"], passage["text"])
    for named in _list(record, "passages"):
        if isinstance(named, str):
            yield Gold(text=named)
        else:
            yield Gold(_text(named["title"]), _text(named["text"]))
    for session in _list(record, "answer_session_ids"):
        yield Gold(source=f"{id_}#{session}")
    for source in _list(record, "sources") + _list(record, "supporting"):
        yield Gold(source=_text(source))


def _passages(record: Record, id_: str) -> Iterator[tuple[bool, PassageRecord]]:
    """Yield the passages of a record, and whether each is gold."""
    context = record.get("context")
    if isinstance(record.get("conversation"), Mapping):
        yield from _turns(record["conversation"], _talk(record))
    elif "haystack_sessions" in record:
        names, dates = record["haystack_session_ids"], record["haystack_dates"]
        for name, date, turns in zip(names, dates, record["haystack_sessions"], strict=True):
            text = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
            yield False, _document(id_, name, f"Session of {date}", text)
    elif "corpus_name" in record:
        yield False, {"source": _text(record["corpus_name"]), "title": "", "text": _text(context)}
    elif isinstance(context, str):
        for place, text in enumerate(_CONTEXT.split(context)):
            if text.strip():
                yield False, _document(id_, place, "", text.strip())
    elif context is not None:
        titles = _supporting_titles(record)
        for title, sentences in _pairs(record, "context", "sentences"):
            if not isinstance(sentences, list):
                raise TypeError(f"{sentences!r:.60} is not a list")
            yield title in titles, {"title": _text(title), "text": " ".join(map(_text, sentences))}
    for passage in _list(record, "contexts") + _list(record, "paragraphs"):
        text = _text(passage["text" if "text" in passage else "paragraph_text"])
        yield bool(passage.get("is_supporting", True)), {"title": _text(passage["title"]), "text": text}


def _document(source: str, id_: object, title: str, text: str) -> PassageRecord:
    return {"source": source, "id": str(id_), "title": title, "text": text}


def _turns(conversation: Record, scope: str) -> Iterator[tuple[bool, PassageRecord]]:
    """Yield LoCoMo's turns, each a document of its own that names its day."""
    for name, turns in conversation.items():
        if _SESSION.fullmatch(name):
            day = conversation.get(f"{name}_date_time", "")
            for turn in turns:
                text = f"{turn['speaker']}: {turn['text']}"
                yield False, _document(scope, turn["dia_id"], f"{name}, {day}", text)


def _supporting_titles(record: Record) -> set[str]:
    return {_text(title) for title, *_ in _pairs(record, "supporting_facts", "sent_id")}


def _pairs(record: Record, key: str, second: str) -> list[Any]:
    """Return a list of [title, something], also if it is written as a record of two lists, as Hugging Face's
    copies have it."""
    pairs = record[key]
    if isinstance(pairs, Mapping):
        return list(zip(pairs["title"], pairs[second], strict=True))
    return _list(record, key)


def _list(record: Record, key: str) -> list[Any]:
    value = record.get(key)
    if not isinstance(value, list | None):
        raise TypeError(f"{value!r:.60} is not a list")
    return value or []


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a text")
    return value


def _read_hops(record: Record, plan: object) -> int | None:
    hops = record.get("hops")
    if type(hops) is int:
        return hops
    if isinstance(plan, list):
        return len(plan) or None
    if "supporting_facts" in record:
        return len(_supporting_titles(record)) or None
    return None if record.keys().isdisjoint(("obj", "reference", "possible_answers")) else 1
