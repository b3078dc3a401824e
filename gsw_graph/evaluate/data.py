"""Read questions with known answers, whatever data set they are from, the plans that go with them, and the
corpus that a file of questions brings along.

Each field is looked for under the keys that the data sets publish it under; docs/reproduce.md lists the sets.
Ours: `id`, `question`, `answers`, `passages`, `sources`, `plan`, `answerable`, `hops`, `type`, `scope` (the
source of the only documents that it may see), `conversation`."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from gsw_graph.ask.retrieve.variants import find_strategy
from gsw_graph.errors import InputError
from gsw_graph.model.documents import Failure

Record = Mapping[str, Any]

# The first of these keys that a record has holds its answers; beside some keys there are more.
_ANSWERS = (
    ("answer", ()),
    ("Answer", ()),
    ("gold_ans", ()),
    ("reference", ()),
    ("obj", ("possible_answers", "o_wiki_title", "o_aliases")),
    ("possible_answers", ()),
    ("answers", ()),
)
_JSON_TEXT = ("possible_answers", "o_aliases")  # PopQA writes these lists as text
_NO_ANSWER = {"no answer", "n/a"}  # in Panini's Platinum sets where there is none
_TWO_WIKI = {"compositional", "inference", "bridge_comparison"}  # types that HotpotQA does not have
_LISTS = ("questions", "data", "Data")  # keys under which an object keeps its records
_QUESTIONS = ("question", "input", "Question", "question_text")
_IDS = ("id", "_id", "ID", "qid", "question_id", "QuestionId", "example_id")
_TYPES = ("type", "question_type", "compositionality_type", "composition_type", "category")
_PLANS = ("plan", "question_decomposition", "decomposition", "questions")
_SHAPES = (  # the first one of whose keys a record has
    ("2wikimultihopqa", ("evidences",)),
    ("hotpotqa", ("supporting_facts",)),
    ("locomo", ("dialogue",)),
    ("longmemeval", ("haystack_sessions",)),
    ("popqa", ("obj", "possible_answers")),
    ("nq", ("reference",)),
    ("musique", ("paragraphs",)),
    ("lveval", ("answer_keywords", "confusing_facts")),
    ("longbench", ("input",)),
    ("graphrag-bench", ("question_type",)),
    ("strategyqa", ("facts", "decomposition")),
    ("triviaqa", ("entity_pages", "EntityPages", "Answer")),
    ("complexwebquestions", ("compositionality_type", "composition_type")),
)
_ADVERSARIAL = 5  # the category of LoCoMo's questions that the conversation does not answer
_HINT = "docs/reproduce.md lists the data sets; or give lines of {id, question, answers, passages or sources}"
_LONG = 10  # words of an answer above which it is judged by what it covers
PLAN_SOURCES = ("gold", "none", "model")


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
        hops: Steps of the gold decomposition, else supporting titles; None where a record does not say.
        shape: The data set whose keys the record has.
        key: As the id, but unique in its file; ids of MuSiQue's unanswerable questions repeat.
        type: As the data set names it.
        scope: Only documents of this source are searched (`scope`, `scope/...`, `scope#...`).
        conversation: What it belongs to, where questions are asked in order.
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
        """Whether the gold answer is more than a name or a phrase."""
        return bool(self.answers) and len(self.answers[0].split()) > _LONG


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
        part = f" ({len(questions):,} of them)" if len(questions) < len(self.questions) else ""
        return replace(self, questions=questions, name=f"{self.name}{part}")


def read_questions(path: str | Path) -> QuestionSet:
    """Read the questions of a file. A record that is none is a failure, and the rest is read.

    Raises:
        InputError: The file cannot be read, or not one question is in it.
    """
    text, sha256 = _read_text(path, _HINT)
    return question_set(_json_values(text, str(path)), str(path), sha256)


def question_set(values: list[tuple[str, object]], name: str = "", sha256: str = "") -> QuestionSet:
    """Read questions from JSON values, each of which has a place for messages. InputError: there are none."""
    questions: list[Question] = []
    failures: list[Failure] = []
    keys: set[str] = set()
    records = [(place, record) for place, value in values for record in _records(value)]
    for number, (place, value) in enumerate(records, 1):
        question = value if isinstance(value, Failure) else _read_record(value, str(number), place)
        if isinstance(question, Failure):
            failures.append(question)
        else:
            others = (f"{question.id}#{repeat}" for repeat in count(2))
            key = next(key for key in chain([question.id], others) if key not in keys)
            keys.add(key)
            questions.append(replace(question, key=key))
    if not questions:
        reason = f": {failures[0].reason}" if failures else ""
        raise InputError(f"there are no questions{reason}", where=name or None, hint=_HINT)
    return QuestionSet(questions, failures, name, sha256)


def read_corpus(path: str | Path, size: int | None = None, seed: int = 0) -> list[dict[str, str]]:
    """Return the passages that a file of questions, of conversations or of GraphRAG-Bench's texts brings
    along, each once, as records that `load` reads; gold passages first.

    Args:
        path: The file.
        size: So many: the gold ones, and distractors at random; a larger size has those of a smaller.
        seed: Of the order of the distractors.

    Raises:
        InputError: There are none.
    """
    text, _ = _read_text(path, _HINT)
    records = [value for _, value in _json_values(text, str(path)) if isinstance(value, Mapping)]
    passages = [passage for number, value in enumerate(records, 1) for passage in _passages(value, number)]
    if not passages:
        raise InputError("there are no passages in this file", where=str(path), hint=_HINT)
    gold = {tuple(record.items()) for is_gold, record in passages if is_gold}
    unique = list(dict.fromkeys(tuple(record.items()) for _, record in passages))
    if size is not None:
        random.Random(seed).shuffle(unique)  # noqa: S311 - no secret
    return [dict(record) for record in sorted(unique, key=lambda record: record not in gold)][:size]


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
    """Read plans from one of PLAN_SOURCES or a file, `trace.jsonl` of a run too. InputError: it has none for
    these questions, or cannot be read."""
    if source in ("none", "model"):
        return Plans(source)
    if source == "gold":
        gold = {question.key: question.plan for question in questions.questions if question.plan is not None}
        if not gold:
            hint = 'Use --plans none, model or a file with plans, or put a "plan" into the records'
            raise InputError("the questions have no gold plans", where=questions.name or None, hint=hint)
        return Plans("gold", gold)
    text, sha256 = _read_text(source, f"Use {', '.join(PLAN_SOURCES)} or a file")
    named = _named_plans(text, source)
    by_key = {
        question.key: named[name]
        for question in questions.questions
        for name in (question.question, question.id, question.key)
        if name in named
    }
    if not by_key:
        hint = (
            'Give {"id or question": plan, ...}, or records with "id" or "question" and "plan", in an array '
            "or one a line"
        )
        raise InputError("no plan in the file belongs to one of the questions", where=source, hint=hint)
    return Plans("file", by_key, sha256)


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
        lines = [(f"{where}:{n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        return [(place, _json(line, place)) for place, line in lines]
    if isinstance(whole, dict):
        lists = () if any(key in whole for key in (*_QUESTIONS, *_IDS)) else _LISTS
        whole = next((whole[key] for key in lists if isinstance(whole.get(key), list)), [whole])
    if not isinstance(whole, list):
        raise InputError("the questions have no shape that is known", where=where, hint=_HINT)
    return [(f"{where}: record {number}", value) for number, value in enumerate(whole, 1)]


def _json(text: str, place: str) -> Any:
    """Return the value of a JSON text, or a Failure."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return Failure(place, f"broken JSON: {error}")


def _records(value: Any) -> list[object]:
    """Return the records of a value: one, or a LoCoMo conversation's questions."""
    if not isinstance(value, Mapping) or "conversation" not in value or not isinstance(value.get("qa"), list):
        return [value]
    scope = str(value.get("sample_id", "conversation"))
    return [
        {
            **record,
            "dialogue": scope,
            "id": f"{scope}-{number}",
            "answerable": record.get("category") != _ADVERSARIAL,
            "sources": [f"{scope}#{turn}" for turn in record.get("evidence", ())],
            "hops": len(record.get("evidence", ())) or None,
            "scope": scope,
            "conversation": scope,
        }
        for number, record in enumerate(value["qa"], 1)
    ]


def _read_record(value: Any, number: str, place: str) -> Question | Failure:
    """Read one record; `number` is its id where it has none."""
    if not isinstance(value, Mapping):
        return Failure(place, "not a record")
    question = _first(value, _QUESTIONS)
    if not isinstance(question, str) or not question.strip():
        return Failure(place, "no `question`")
    shape = next((name for name, keys in _SHAPES if any(key in value for key in keys)), "own")
    if shape == "hotpotqa" and value.get("type") in _TWO_WIKI:
        shape = "2wikimultihopqa"
    try:
        return _question(value, question.strip(), number, shape)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return Failure(place, f"a field has another form than in {shape}: {type(error).__name__}: {error}")


def _question(value: Record, question: str, number: str, shape: str) -> Question:
    id_ = str(_first(value, _IDS) or number)
    answers = tuple(dict.fromkeys(_read_answers(value)))
    answerable = value.get("answerable")
    if answerable is None:
        unanswered = bool(answers) and all(answer.strip().casefold() in _NO_ANSWER for answer in answers)
        answerable = not unanswered and not (shape == "longmemeval" and id_.endswith("_abs"))
    if not isinstance(answerable, bool):
        raise TypeError("`answerable` is neither true nor false")
    plan = _first(value, _PLANS[:3])
    date = value.get("question_date")
    return Question(
        id_,
        f"{question} (asked on {date})" if date else question,
        answers if answerable else (),
        tuple(dict.fromkeys(_read_gold(value, id_))),
        answerable,
        plan,
        _read_hops(value, plan),
        shape,
        type=str(_first(value, _TYPES) or ""),
        scope=str(value.get("scope") or _scope_of(value, id_, shape)),
        conversation=str(value.get("conversation") or ""),
    )


def _first(value: Record, keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _scope_of(value: Record, id_: str, shape: str) -> str:
    """Return the source of what alone a question may see: its own context, or GraphRAG-Bench's novel."""
    novel = _text(value.get("source", "")) if shape == "graphrag-bench" else ""
    return novel or (id_ if isinstance(value.get("context"), str) or shape == "longmemeval" else "")


def _read_answers(value: Record) -> Iterator[str]:
    keys = next(([key, *more] for key, more in _ANSWERS if value.get(key) is not None), [])
    for key in (*keys, "answer_aliases"):
        answers = value.get(key)
        if key in _JSON_TEXT and isinstance(answers, str) and answers.lstrip().startswith("["):
            answers = json.loads(answers)
        yield from _answer_texts(answers)


def _answer_texts(value: object) -> Iterator[str]:
    """Yield the texts of an answer, which may be true or false, a list, or a record with aliases."""
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, Mapping):
        main = _first(value, ("value", "Value", "answer"))
        yield from _answer_texts([_text(main), value.get("aliases") or value.get("Aliases") or []])
    elif isinstance(value, list):
        for item in value:
            yield from _answer_texts(item)
    elif value is not None:
        yield str(value)


def _read_gold(value: Record, id_: str) -> Iterator[Gold]:
    """Read the supporting passages as HippoRAG 2 does (`get_gold_docs`); the white space between sentences,
    which differs between its two sets, is not compared."""
    for gold, record in _passages(value, 0):
        if gold and "source" not in record:
            yield Gold(record["title"], record["text"])
    for passage in _list(value.get("passages")):
        named = {"title": "", "text": passage} if isinstance(passage, str) else passage
        yield Gold(_text(named["title"]), _text(named["text"]))
    sessions = [f"{id_}#{session}" for session in _list(value.get("answer_session_ids"))]
    for source in (*_list(value.get("sources")), *_list(value.get("supporting")), *sessions):
        yield Gold(source=_text(source))


def _passages(value: Record, number: int) -> Iterator[tuple[bool, dict[str, str]]]:
    """Yield the passages of a record as `load` reads them, and whether each is gold."""
    id_ = str(_first(value, _IDS) or number)
    context = value.get("context")
    if isinstance(value.get("conversation"), Mapping):
        yield from _turns(value["conversation"], str(value.get("sample_id", "conversation")))
    elif "haystack_sessions" in value:
        names, dates = value["haystack_session_ids"], value["haystack_dates"]
        for name, date, turns in zip(names, dates, value["haystack_sessions"], strict=True):
            text = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
            yield False, {"source": id_, "id": str(name), "title": f"Session of {date}", "text": text}
    elif "corpus_name" in value:
        yield False, {"source": _text(value["corpus_name"]), "title": "", "text": _text(context)}
    elif isinstance(context, str):
        for place, text in enumerate(re.split(r"^#* ?Passage \d+:?\s*$", context, flags=re.MULTILINE)):
            if text.strip():
                yield False, {"source": id_, "id": str(place), "title": "", "text": text.strip()}
    elif context is not None:
        titles = {_text(title) for title, *_ in _pairs(value["supporting_facts"], "sent_id")}
        for title, sentences in _pairs(context, "sentences"):
            yield title in titles, {"title": _text(title), "text": " ".join(map(_text, _list(sentences)))}
    for passage in (*_list(value.get("contexts")), *_list(value.get("paragraphs"))):
        text = _text(passage["text" if "text" in passage else "paragraph_text"])
        yield bool(passage.get("is_supporting", True)), {"title": _text(passage["title"]), "text": text}


def _turns(conversation: Record, scope: str) -> Iterator[tuple[bool, dict[str, str]]]:
    """Yield LoCoMo's turns, each a document of its own that names its day."""
    for name, turns in conversation.items():
        if re.fullmatch(r"session_\d+", name):
            day = conversation.get(f"{name}_date_time", "")
            for turn in turns:
                text = f"{turn['speaker']}: {turn['text']}"
                yield False, {"source": scope, "id": turn["dia_id"], "title": f"{name}, {day}", "text": text}


def _pairs(pairs: Any, second: str) -> list[Any]:
    """Return a list of [title, something], also where it is written as a record of two lists, as Hugging
    Face's copies have it."""
    if isinstance(pairs, Mapping):
        return list(zip(pairs["title"], pairs[second], strict=True))
    return _list(pairs)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise TypeError(f"{value!r:.60} is not a list")
    return value or []


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a text")
    return value


def _read_hops(value: Record, plan: object) -> int | None:
    if type(value.get("hops")) is int:
        return int(value["hops"])
    if isinstance(plan, list):
        return len(plan) or None
    if "supporting_facts" in value:
        return len({title for title, *_ in _pairs(value["supporting_facts"], "sent_id")}) or None
    return 1 if "obj" in value or "reference" in value or "possible_answers" in value else None


def _named_plans(text: str, path: str) -> dict[str, object]:
    """Return plans by the id or the text of their question; records without a plan are left out."""
    records = [value for _, value in _json_values(text, path) if isinstance(value, dict)]
    names = ("id", "_id", "question")
    if len(records) == 1 and not any(key in records[0] for key in names):
        return records[0]
    return {
        str(record[key]): plan
        for record in records
        if (plan := _first(record, _PLANS)) is not None
        for key in names
        if key in record
    }
