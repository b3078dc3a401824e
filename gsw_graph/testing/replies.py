"""Scripted replies: lines of a file, found by what a request says, however many thousand lines there are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.testing.calls import Call
from gsw_graph.testing.faults import Fault

_WORD = re.compile(r"\w+")
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>(.*?)</\1>", re.DOTALL)
_FENCED = re.compile(r"<<<(\w+ \w+)\n(.*?)\n\1>>>", re.DOTALL)  # as gswgraph marks data
_LINE = {"when", "reply", "usage", "finish_reason", "refusal"}
_WHEN = {"request", "stage", "key", "contains"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says. value: a text, as it is, or anything else, as JSON. usage: prompt_tokens and
    completion_tokens, where not as counted. refusal: said instead of the value."""

    value: Any = ""
    finish_reason: str = "stop"
    usage: Mapping[str, int] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The content of the message."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


Function = Callable[[dict[str, Any]], "Reply | str | dict[str, Any] | list[Any] | None"]
"""Gets the body of a chat request, gives its reply, or None where it has none."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A reply and when it is given: the texts, and the key, stand in the request's user messages. request:
    it is this one and no other, see `Call.request`."""

    request: str | None
    stage: str | None
    key: str | None
    contains: tuple[str, ...]
    reply: Reply

    @property
    def weight(self) -> tuple[bool, bool, int, bool]:
        """Of several lines that fit, the heaviest is taken: the one for this request, then the one with the
        key, then the longest texts, then the stage."""
        length = sum(map(len, self.contains))
        return self.request is not None, self.key is not None, length, self.stage is not None


class Script:
    """Replies by line. Of several that fit a request the most exact is taken (`_Line.weight`), then the
    first."""

    def __init__(self, lines: Iterable[_Line]) -> None:
        self._lines = list(lines)
        self._by_request: dict[str, list[int]] = {}
        self._by_key: dict[str, list[int]] = {}
        self._by_word: dict[str, list[int]] = {}
        self._others: list[int] = []
        # A line is looked up by its rarest word: a request is compared with the few lines whose word it
        # holds, and with those of one or two words.
        words = [_inner_words(line.contains) for line in self._lines]
        known = Counter(word for of_line in words for word in of_line)
        for number, line in enumerate(self._lines):
            if line.request is not None:
                self._by_request.setdefault(line.request, []).append(number)
            elif line.key is not None:
                self._by_key.setdefault(line.key, []).append(number)
            elif words[number]:
                rarest = min(words[number], key=lambda word: (known[word], -len(word), word))
                self._by_word.setdefault(rarest, []).append(number)
            else:
                self._others.append(number)

    def find(self, call: Call) -> Reply | None:
        """The reply to a chat call."""
        said = call.said
        text, keys = _even(said), _parts(said) if self._by_key else set()
        numbers = [number for key in keys for number in self._by_key.get(key, ())]
        numbers += self._by_request.get(call.request, ()) if self._by_request else ()
        numbers += [number for word in set(_WORD.findall(text)) for number in self._by_word.get(word, ())]
        fitting = [
            number
            for number in sorted(numbers + self._others)
            if self._lines[number].stage in (None, call.stage)
            and all(part in text for part in self._lines[number].contains)
        ]
        return (
            self._lines[max(fitting, key=lambda number: self._lines[number].weight)].reply
            if fitting
            else None
        )


def read_script(source: str | Path | Iterable[Mapping[str, Any]]) -> tuple[Script, tuple[Fault, ...]]:
    """Replies and faults from a JSONL file, or from the same objects. InputError names file and line.

    A line is `{"when": {"stage": "extract", "contains": ["text", ...]}, "reply": {...} or "text", "usage":
    {...}, "finish_reason": "...", "refusal": "..."}`, of which only `reply` or `refusal` must be there, or
    `{"fault": {"kind": "rate_limit", "share": 0.1}}` with the attributes of `Fault`, or `{"written by":
    "..."}`, which says whose words the replies are and answers nothing. White space counts as one space.
    `request` in `when` is the hash of a whole request, as a recording has it (`recording.py`), and
    stands without `key` and `contains`. `key` in `when` is a whole part of a user message that stands between
    marks: `<<<passage CODE` ... `passage CODE>>>` as gswgraph sets them, or tags, `<passage>` ...
    `</passage>`.
    """
    lines, faults = [], []
    for where, value in _read_file(Path(source)) if isinstance(source, (str, Path)) else _numbered(source):
        try:
            if isinstance(value, Mapping) and value.keys() == {"fault"}:
                faults.append(Fault.read(value["fault"]))
            elif isinstance(value, Mapping) and value.keys() == {"written by"}:
                if not isinstance(value["written by"], str):
                    raise InputError("`written by` is a text")  # noqa: TRY301
            else:
                lines.append(_read_line(value))
        except (InputError, TypeError) as error:
            raise InputError(
                error.message if isinstance(error, InputError) else str(error),
                where=where,
                hint="See gsw_graph/testing/replies.py",
            ) from None
    return Script(lines), tuple(faults)


def _read_file(path: Path) -> Iterator[tuple[str, Any]]:
    where = str(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                where = f"{path}:{number}"
                if line.strip():
                    yield where, json.loads(line)
    except OSError as error:
        raise InputError(f"the scripted replies cannot be read ({error.strerror})", where=str(path)) from None
    except ValueError as error:
        raise InputError(f"this is no JSON ({error})", where=where) from None


def _numbered(values: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((f"reply {number}", value) for number, value in enumerate(values, 1))


def _read_line(value: Any) -> _Line:
    if not isinstance(value, Mapping) or not ("reply" in value or "refusal" in value):
        raise InputError("a line is an object with a `reply`, a `refusal` or a `fault`")
    when = value.get("when", {})
    if not isinstance(when, Mapping):
        raise InputError("`when` is no object")
    if unknown := (value.keys() - _LINE) | (when.keys() - _WHEN):
        raise InputError(f"nothing is known of {', '.join(map(repr, sorted(unknown)))}")
    contains, key, request = when.get("contains", []), when.get("key"), when.get("request")
    contains = [contains] if isinstance(contains, str) else contains
    if not isinstance(contains, (list, tuple)) or not all(
        isinstance(text, str)
        for text in [*contains, *(given for given in (key, request) if given is not None)]
    ):
        raise InputError("`key` and `request` are texts and `contains` a list of texts")
    reply = Reply(
        value.get("reply", ""), value.get("finish_reason", "stop"), value.get("usage"), value.get("refusal")
    )
    if request is not None and (key is not None or contains):
        raise InputError("`request` stands without `key` and `contains`")
    even = None if key is None else _even(key)
    return _Line(request, when.get("stage"), even, tuple(map(_even, contains)), reply)


def _even(text: str) -> str:
    """With one space wherever there is white space."""
    return " ".join(text.split())


def _inner_words(texts: Iterable[str]) -> set[str]:
    """Words that are whole words in every text that holds these; the first and the last may be parts of
    longer ones."""
    return {
        found[0]
        for text in texts
        for found in _WORD.finditer(text)
        if found.start() > 0 and found.end() < len(text)
    }


def _parts(said: str) -> set[str]:
    return {_even(found[2]) for pattern in (_TAGGED, _FENCED) for found in pattern.finditer(said)}
