"""Plans from what people and models write: our own form, plain questions, MuSiQue's decompositions,
Panini's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from gsw_graph.errors import InputError
from gsw_graph.plan.steps import Plan, SubQuestion, check, check_number, rewrite

MAX_QUESTION = 2_000  # characters
MAX_FILE = 1_000_000  # bytes

_WRAPPERS = ("plan", "questions", "question_decomposition")
_MUSIQUE_KEYS = ("paragraph_support_idx", "answer")
_PLACEHOLDER = re.compile(r"<ENTITY(?:_([^<>]*))?>", re.IGNORECASE)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SHAPE = 'Give a list of questions, or of records such as {"id": 1, "question": "Who directed Alien?"}'


def load(argument: str) -> Plan:
    """The plan that a command line gives: JSON if it begins with [ or {, else the path of a file with it.
    InputError: there is none, or see `parse`."""
    if argument.lstrip()[:1] in ("", "[", "{"):
        return parse(argument)
    where = argument if len(argument) <= 200 else f"{argument[:200]}..."
    hint = "Give a JSON file, or the plan itself in one argument that begins with [ or {"
    try:
        with Path(argument).open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"the plan cannot be read ({reason})", where=where, hint=hint) from error
    if len(data) > MAX_FILE:
        raise InputError(
            f"the file is larger than {MAX_FILE:,} bytes, too large for a plan", where=where, hint=hint
        )
    try:
        return parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"the plan is not in UTF-8 (byte {error.start})", where=where, hint="Save it as UTF-8"
        ) from error
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from error


def parse(plan: object) -> Plan:
    """A plan from any of its forms, or from JSON text of one; its steps get the ids 1 to n in their order.
    InputError: it is none, or cannot be followed.

    - records with `question` and, if not false, `retrieve`; `#k` means the step whose `id` is k, or the k-th
      where no step has an id
    - plain questions: `#k` means the k-th
    - MuSiQue's `question_decomposition`: `#k` means the k-th, whatever the ids; the gold answers are not read
    - Panini's records with `requires_retrieval`; `<ENTITY_Qk>` means the k-th step in any form and `<ENTITY>`
      the step before
    - an object that holds one of these under `plan`, `questions` or `question_decomposition`
    """
    if isinstance(plan, Plan):
        return plan
    records, musique = _records(_decoded(plan) if isinstance(plan, str) else plan)
    ids = _ids(records, musique)
    steps = [_step(record, id) for record, id in zip(records, ids, strict=True)]
    _check_one_writing(steps)
    steps = [SubQuestion(step.id, _resolved(step, n, ids), step.retrieve) for n, step in enumerate(steps, 1)]
    check(steps)  # before they get new numbers: an error names a step as its writer did
    place = {id: n for n, id in enumerate(ids, 1)}
    return Plan(
        tuple(
            SubQuestion(place[step.id], rewrite(step.question, lambda id: f"#{place[id]}"), step.retrieve)
            for step in steps
        )
    )


def _decoded(text: str) -> object:
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise InputError("the plan is empty", hint=_SHAPE)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the plan is not JSON ({error.msg}, line {error.lineno}, column {error.colno})", hint=_SHAPE
        ) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise InputError("the plan is JSON that cannot be read", hint=_SHAPE) from error


def _records(plan: object) -> tuple[list[object], bool]:
    """The steps as they were written, and whether they are MuSiQue's."""
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
    return list(plan), musique or any(
        isinstance(record, Mapping) and not record.keys().isdisjoint(_MUSIQUE_KEYS) for record in plan
    )


def _ids(records: list[object], musique: bool) -> list[int]:
    """What `#k` calls the steps: their own ids, or their positions where they have none, or MuSiQue's,
    which are numbers in another list."""
    places = list(range(1, len(records) + 1))
    if musique or not any(isinstance(record, Mapping) and "id" in record for record in records):
        return places
    ids = []
    for place, record in zip(places, records, strict=True):
        if not isinstance(record, Mapping) or "id" not in record:
            raise InputError(
                f"the step in place {place} has no id, and others have", hint="Give every step an id, or none"
            )
        id = record["id"]
        if not isinstance(id, int) or isinstance(id, bool) or id < 0:  # "#-1" would be no reference
            raise InputError(
                f"the step in place {place} has the id {id!r:.50}, which is not a whole number from 0 up",
                hint="Use 1, 2, 3",
            )
        ids.append(id)
    return ids


def _step(record: object, id: int) -> SubQuestion:
    if isinstance(record, str):
        record = {"question": record}
    if not isinstance(record, Mapping):
        raise InputError(f"step {id} is neither a question nor a record", hint=_SHAPE)
    question = record.get("question")
    if not isinstance(question, str):
        raise InputError(
            f"step {id} has {'a question that is not text' if 'question' in record else 'no question'}",
            hint=_SHAPE,
        )
    if len(question) > MAX_QUESTION:
        raise InputError(
            f"the question of step {id} has {len(question):,} characters, more than the {MAX_QUESTION:,} "
            "that are allowed",
            hint="Shorten it",
        )
    if _UNSTORABLE.search(question):
        raise InputError(
            rf"the question of step {id} has a NUL (\u0000) or half a surrogate pair (\ud800 to \udfff)",
            hint="Take it out",
        )
    return SubQuestion(id, question.strip(), _retrieve(record, id))


def _retrieve(record: Mapping[str, object], id: int) -> bool:
    """A model that imitates Panini's examples writes the flag as text, and the text "false" is true to
    Python."""
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


def _check_one_writing(steps: list[SubQuestion]) -> None:
    """Among placeholders a "#1" may be a reference or a place in the charts; a guess would send the search
    astray."""
    written = next((match[0] for step in steps if (match := _PLACEHOLDER.search(step.question))), None)
    for step in steps:
        if written and step.parents:
            k = step.parents[0]
            raise InputError(
                f"the plan refers to steps both as {written} and as #{k} (step {step.id})",
                hint=f'Use one of the two, and write "number {k}" if no step is meant',
            )


def _resolved(step: SubQuestion, at: int, ids: list[int]) -> str:
    """The question in place `at` with `#id` for Panini's placeholders, which count places."""
    text = step.question

    def reference(match: re.Match[str]) -> str:
        written = match[1]
        place = at - 1 if written is None else int(written[1:]) if re.fullmatch("[Qq][0-9]+", written) else 0
        if not 1 <= place <= len(ids):
            raise InputError(
                f"step {step.id} refers to {match[0]}, and there is no such step",
                hint="<ENTITY_Q1> is the first step, <ENTITY> the step before",
            )
        # A reference has no letter or digit beside it.
        left, right = text[: match.start()][-1:], text[match.end() :][:1]
        before, after = " " if left.isalnum() or left == ">" else "", " " if right.isalnum() else ""
        return f"{before}#{ids[place - 1]}{after}"

    return _PLACEHOLDER.sub(reference, text)
