"""Make and parse plans: sub-questions that wait for each other's answers. A language model makes a plan
(Panini, section 2.3); people and models write plans in several forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt
from gsw_graph.text.names import normalise
from gsw_graph.text.words import FUNCTION_WORDS, LETTERS
from gsw_graph.values import Fields, single_spaced

if TYPE_CHECKING:
    from gsw_graph.models.chat.request import LanguageModel


MOST_STEPS = 20

# No letter or digit on either side: C#, #MeToo and #4chan are text.
_REFERENCE = re.compile(r"(?<![^\W_])#([0-9]+)(?![^\W_])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """Hold a step of a plan. `#k` in the question stands for the answer of step k. A step that only compares
    retrieves nothing."""

    id: int
    question: str
    retrieve: bool = True

    @property
    def parents(self) -> tuple[int, ...]:
        """Return the ids of the steps whose answers it needs, each once, ascending."""
        return tuple(sorted(set(map(int, _REFERENCE.findall(self.question)))))

    def concrete(self, answers: Mapping[int, str]) -> str:
        """Return the question with every `#k` replaced by `answers[k]`. KeyError: one is missing."""
        return rewrite(self.question, answers.__getitem__)


Levels: TypeAlias = "tuple[tuple[SubQuestion, ...], ...]"


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold steps with the ids 1 to n in their order. Raises InputError if the steps cannot be asked level by
    level; see `check`."""

    steps: tuple[SubQuestion, ...]

    def __post_init__(self) -> None:
        check(self.steps)
        if any(step.id != number for number, step in enumerate(self.steps, 1)):
            raise InputError(
                "the steps of a plan have the ids 1 to n in their order",
                hint="gsw_graph.ask.plan.parse numbers them",
            )

    def levels(self) -> Levels:
        """Return the steps that retrieve, in levels: each level needs only answers of earlier levels."""
        return _levels([step for step in self.steps if step.retrieve])

    def ancestors(self, id: int) -> frozenset[int]:
        """Return the ids of all steps that must be answered before step `id`."""
        parents = {step.id: step.parents for step in self.steps}
        above: set[int] = set()
        waiting = [*parents[id]]
        while waiting:
            parent = waiting.pop()
            if parent not in above:
                above.add(parent)
                waiting += parents[parent]
        return frozenset(above)

    @property
    def sinks(self) -> tuple[SubQuestion, ...]:
        """Return the steps at which chains end: they retrieve, and no other step that retrieves needs
        them."""
        steps = [step for step in self.steps if step.retrieve]
        needed = needed_by(steps)
        return tuple(step for step in steps if step.id not in needed)

    def to_list(self) -> list[dict[str, object]]:
        """Return the plan for JSON; `parse` returns the same plan again."""
        records: list[dict[str, object]] = []
        for step in self.steps:
            record = {"id": step.id, "question": step.question}
            records.append(record if step.retrieve else {**record, "retrieve": False})
        return records


def needed_by(steps: Iterable[SubQuestion]) -> set[int]:
    """Return the ids of the steps whose answers some steps need."""
    return {parent for step in steps for parent in step.parents}


def rewrite(question: str, put: Callable[[int], str]) -> str:
    """Replace every `#k` in a question by `put(k)`, in one pass."""
    return _REFERENCE.sub(lambda match: put(int(match[1])), question)


def check(steps: Sequence[SubQuestion]) -> None:
    """Check that steps, with any ids, are a plan.

    Raises:
        InputError: There are no steps or too many, a question is blank, an id occurs twice, a reference
            cannot be followed, or no step retrieves.
    """
    check_number(len(steps))
    by_id: dict[int, SubQuestion] = {}
    for step in steps:
        if step.id in by_id:
            raise InputError(f"two steps have the id {step.id}", hint="Give each step its own")
        if not step.question.strip():
            raise InputError(f"step {step.id} has no question", hint="Write one or leave the step out")
        by_id[step.id] = step
    for step in steps:
        for parent in step.parents:
            _check_reference(step.id, parent, by_id)
    _levels(steps)
    if not any(step.retrieve for step in steps):
        raise InputError(
            "no step of the plan retrieves anything",
            hint="At least one must not be marked as retrieve: false",
        )


def check_number(steps: int) -> None:
    """Raise InputError if there are no steps or too many."""
    if not steps:
        raise InputError("the plan is empty", hint="Give it at least one question")
    if steps > MOST_STEPS:
        raise InputError(
            f"the plan has {steps} steps, more than the {MOST_STEPS} that are allowed",
            hint="Split the question",
        )


def _check_reference(id: int, parent: int, by_id: Mapping[int, SubQuestion]) -> None:
    hint = f'Refer to another step, or write "number {parent}" if no step is meant'
    if parent not in by_id:
        raise InputError(f"step {id} refers to #{parent}, and there is no step {parent}", hint=hint)
    if parent == id:
        raise InputError(f"step {id} refers to itself", hint=hint)
    # A search for the bare "#k" would find nothing, without an error.
    if not by_id[parent].retrieve:
        raise InputError(
            f"step {id} needs the answer of step {parent}, which has none because nothing is retrieved for "
            "it",
            hint=f"Retrieve for step {parent}, or refer to the steps that it compares",
        )


def _levels(steps: Sequence[SubQuestion]) -> Levels:
    """Sort steps into the levels in which they can be taken. Raises InputError if they wait in a circle."""
    sorter = TopologicalSorter({step.id: step.parents for step in steps})
    try:
        sorter.prepare()
    except CycleError as error:
        *cycle, _ = reversed(error.args[1])  # each needs the next
        while cycle[0] != next(step.id for step in steps if step.id in cycle):
            cycle.append(cycle.pop(0))
        names = " -> ".join(map(str, [*cycle, cycle[0]]))
        raise InputError(
            f"steps wait for each other's answers in a circle: {names}",
            hint="Take one of these references out",
        ) from error
    levels = []
    while sorter.is_active():
        ready = sorter.get_ready()
        levels.append(tuple(step for step in steps if step.id in ready))
        sorter.done(*ready)
    return tuple(levels)


MAX_QUESTION = 2_000  # characters

_WRAPPERS = ("plan", "questions", "question_decomposition")
_MUSIQUE_KEYS = ("paragraph_support_idx", "answer")
_PLACEHOLDER = re.compile(r"(\w?)<ENTITY_Q([0-9]{1,4})>(?=([\w<]?))", re.IGNORECASE)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_NO_ID: Any = object()
_SHAPE = 'Give a list of questions, or of records such as {"id": 1, "question": "Who directed Alien?"}'


def load(argument: str) -> Plan:
    """Read the plan of a command line: JSON if it begins with [ or {, else the path of a JSON file.

    Raises:
        InputError: There is no such file, or the plan cannot be parsed (`parse`).
    """
    if argument.lstrip()[:1] in ("", "[", "{"):
        return parse(argument)
    where = argument if len(argument) <= 200 else f"{argument[:200]}..."
    try:
        return parse(Path(argument).read_text(encoding="utf-8"))
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from error
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"the plan cannot be read ({reason})",
            where=where,
            hint="Give a JSON file in UTF-8, or the plan itself in one argument that begins with [ or {",
        ) from error


def parse(plan: object) -> Plan:
    """Parse a plan in any of its forms, or as JSON text. Steps get the ids 1 to n in their order. Raises
    InputError if this is no plan, or if the plan cannot be followed.

    - records with `question` and, if not false, `retrieve`; `#k` means the step whose `id` is k, or the k-th
      if no step has an id
    - plain questions: `#k` means the k-th
    - MuSiQue's `question_decomposition`: `#k` means the k-th, whatever the ids; the gold answers are not read
    - Panini's records with `requires_retrieval`; `<ENTITY_Qk>` means the k-th, whatever the ids
    - an object with one of these under `plan`, `questions` or `question_decomposition`
    """
    if isinstance(plan, Plan):
        return plan
    records, musique = _records(_decoded(plan) if isinstance(plan, str) else plan)
    ids = _ids(records, musique)
    steps = []
    for record, id in zip(records, ids, strict=True):
        step = _step(record, id)
        steps.append(replace(step, question=_with_references(step, ids)))
    check(steps)  # before they get new ids, so that an error names a step as the user did
    new_ids = {id: n for n, id in enumerate(ids, 1)}
    numbered = []
    for step in steps:
        question = rewrite(step.question, lambda id: f"#{new_ids[id]}")
        numbered.append(SubQuestion(new_ids[step.id], question, step.retrieve))
    return Plan(tuple(numbered))


def _decoded(text: str) -> object:
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise InputError("the plan is empty", hint=_SHAPE)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: thousands of brackets
        raise InputError(f"the plan is not JSON ({error})", hint=_SHAPE) from error


def _records(plan: object) -> tuple[list[object], bool]:
    """Return the steps as written, and whether they are MuSiQue's."""
    musique = False
    if isinstance(plan, Mapping):
        keys = [key for key in _WRAPPERS if key in plan]
        if len(keys) > 1:
            raise InputError(f"the plan has both {keys[0]!r} and {keys[1]!r}", hint="Give one of them")
        plan = plan[keys[0]] if keys else None
        musique = keys == ["question_decomposition"]
    if not isinstance(plan, (list, tuple)):
        raise InputError("the plan has no shape that is known", hint=_SHAPE)
    check_number(len(plan))
    for record in plan:
        if isinstance(record, Mapping) and not record.keys().isdisjoint(_MUSIQUE_KEYS):
            musique = True
    return list(plan), musique


def _ids(records: list[object], musique: bool) -> list[int]:
    """Return the numbers by which `#k` refers to the steps: their ids, or their positions if they have none
    or MuSiQue's, which are numbers in another list."""
    ids = [record.get("id", _NO_ID) if isinstance(record, Mapping) else _NO_ID for record in records]
    if musique or all(id is _NO_ID for id in ids):
        return list(range(1, len(records) + 1))
    for position, id in enumerate(ids, 1):
        if type(id) is not int or id < 0:  # "#-1" would be no reference
            raise InputError(
                f"the step in place {position} has no id that is a whole number from 0 up",
                hint="Give every step an id, 1, 2, 3, or none of them",
            )
    return ids


def _step(record: object, id: int) -> SubQuestion:
    if isinstance(record, str):
        record = {"question": record}
    if not isinstance(record, Mapping):
        raise InputError(f"step {id} is neither a question nor a record", hint=_SHAPE)
    question = record.get("question")
    if not isinstance(question, str) or len(question) > MAX_QUESTION or _UNSTORABLE.search(question):
        raise InputError(
            f"step {id} has no question that can be asked",
            hint=f"Write text of at most {MAX_QUESTION:,} characters, without NUL or half a surrogate pair",
        )
    return SubQuestion(id, question.strip(), _retrieve(record, id))


def _with_references(step: SubQuestion, ids: Sequence[int]) -> str:
    """Return the question of a step with `#id` for Panini's placeholders, which count places. Raises
    InputError if there is no such place."""

    def reference(match: re.Match[str]) -> str:
        place = int(match[2])
        if not 1 <= place <= len(ids):
            raise InputError(
                f"step {step.id} refers to <ENTITY_Q{place}>, and there is no such step",
                hint="<ENTITY_Q1> is the answer of the first step",
            )
        left = f"{match[1]} " if match[1] else ""  # next to a letter it would be no reference
        right = " " if match[3] else ""
        return f"{left}#{ids[place - 1]}{right}"

    return _PLACEHOLDER.sub(reference, step.question)


def _retrieve(record: Mapping[str, object], id: int) -> bool:
    """Return whether a step retrieves. Models that imitate Panini's examples write the flag as text."""
    key = "retrieve" if "retrieve" in record else "requires_retrieval"
    value = record.get(key, True)
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower())
    if not isinstance(value, bool):
        raise InputError(
            f"{key!r} of step {id} is neither true nor false",
            hint="Write one of them, or leave it out for true",
        )
    return value


def object_schema(properties: Fields) -> Fields:
    """Return the schema of a reply. Strict servers want every key required and no other allowed."""
    schema: Fields = {"type": "object", "properties": properties, "required": list(properties)}
    return {**schema, "additionalProperties": False}


_STEP_SCHEMA = object_schema(
    {
        "id": {"type": "integer"},
        "question": {"type": "string", "maxLength": 500},
        "retrieve": {"type": "boolean"},
    }
)
# Of the reply; `parse` reads it as it is.
SCHEMA = object_schema({"plan": {"type": "array", "maxItems": 12, "items": _STEP_SCHEMA}})
_LIMIT = 1000  # tokens of a plan; a usual one has 100
_AGAIN = "Write the plan of that question as JSON, in its own words: one step if one fact answers it."
_STEM_LENGTH = 5  # letters that two forms of a word share
_CLOSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u2e80-\u9fff\uac00-\ud7af]")
# Next to a letter `#1` is no reference ("#4chan", "C#1"), except in scripts without spaces.
_LETTER = r"[^\W\d_a-zA-Z]"
_GLUED_LEFT = re.compile(rf"(?<={_LETTER})(?=#[0-9])")
_GLUED_RIGHT = re.compile(rf"(#[0-9]+)(?={_LETTER})")


def decompose(question: str, llm: LanguageModel) -> Plan:
    """Have a model take a question apart (Panini, section 2.3).

    Raises:
        InvalidReplyError: Its reply is no plan, even after a repair.
        ModelUnavailableError: No call works any more.
    """
    text = without_references(question)

    def check(reply: object) -> Plan:
        plan = read_plan(reply)
        check_about(plan, text)
        return plan

    def request(task: str, user: str, short: Request | None = None) -> Request:
        messages = ({"role": "system", "content": prompt(task)}, {"role": "user", "content": user})
        return Request("plan", messages, SCHEMA, limit=_LIMIT, short=short)

    short = request("plan_short", f"Question: {text}\n\n{_AGAIN}")
    return llm.ask(request("plan", f"Question: {text}", short), check).value


def without_references(question: str) -> str:
    """Return a question in one line, in which "#1" is no reference."""
    return rewrite(_spaced(single_spaced(question)), lambda k: f"number {k}")


def followed(reply: object) -> Plan:
    """Return the plan in a reply. Raises ValueError, with advice for the model, if it cannot be followed."""
    try:
        return parse(_spaced(reply))
    except InputError as error:
        raise ValueError(str(error)) from error


def read_plan(reply: object) -> Plan:
    """Return the plan in a reply as `followed`; raises ValueError also if no step uses an answer."""
    plan = followed(reply)
    needed = needed_by(plan.steps)
    for step in plan.steps[:-1]:
        if step.id not in needed:
            raise ValueError(
                f"no step uses the answer of step {step.id}. Write #{step.id}, apart from other letters, in "
                f"the step that needs it, or leave step {step.id} out; "
                "only the last step, which gives the answer, is used by none"
            )
    return plan


def check_about(plan: Plan, question: str) -> None:
    """Raise ValueError if a plan shares no word with the question: small models repeat an example of their
    instructions."""
    text = " ".join(step.question for step in plan.steps)
    if not re.search(r"\w", text):
        raise ValueError("the steps of the plan say nothing")
    words, plan_words = word_stems(question), word_stems(text)
    if words and plan_words and words.isdisjoint(plan_words):
        raise ValueError(
            f"the plan ({text[:100]!r}) shares no name or word with the question: take this question "
            "apart, and no other"
        )


def word_stems(text: str) -> set[str]:
    """Return the first letters of each word of a text, without function words and single letters; in scripts
    without spaces each two characters."""
    stems: set[str] = set()
    for word in re.findall(LETTERS, " ".join(map(normalise, text.split()))):
        if word in FUNCTION_WORDS or len(word) == 1:
            continue
        if _CLOSE.match(word):
            stems.update(map("".join, pairwise(word)))
        else:
            stems.add(word[:_STEM_LENGTH])
    return stems


def _spaced(value: Any) -> Any:
    """Return a JSON value with spaces around references that touch a letter."""
    if isinstance(value, str):
        return _GLUED_RIGHT.sub(r"\1 ", _GLUED_LEFT.sub(" ", value))
    if isinstance(value, list):
        return list(map(_spaced, value))
    if isinstance(value, dict):
        return {key: _spaced(item) for key, item in value.items()}
    return value
