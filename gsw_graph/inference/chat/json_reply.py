"""JSON as language models write it: among thoughts, fences and prose, with single quotes, comments or
trailing commas. What is cut is never completed."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from gsw_graph.characters import without_halves

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(
    r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE
)  # servers that put the opening tag into the prompt
_OPENING = re.compile(r"[\[{]")
_BEGUN = re.compile(r"[\[{:\"']")  # what follows the bracket of JSON, and seldom that of prose
_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/|\#[^\n]*)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_LITERALS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_HEX = {"u": 4, "x": 2, "U": 8}
_DEEPEST = 100


class _FaultError(ValueError):
    """What is wrong, and where. `cut`: the text ends in the middle."""

    def __init__(self, message: str, at: int, *, cut: bool = False) -> None:
        super().__init__(message)
        self.at, self.cut = at, cut


def parse(text: str) -> Any:
    """The object or list in a reply; of several the longest. Raises ValueError that says what is wrong
    with it, for the model that wrote it."""
    for whole in (text, text := without_thoughts(text)):  # thoughts may be part of a sound value
        try:
            value = _clean(json.loads(whole, parse_constant=_no_constant))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            return value
        if isinstance(value, str):  # JSON written into a string
            return parse(value)
    longest, value, start = 0, None, 0
    while found := _OPENING.search(text, start):
        start = found.start()
        try:
            this, end = _value(text, start, 0)
        except _FaultError as fault:
            if _BEGUN.search(text, start + 1, fault.at):
                raise ValueError(_describe(text, fault)) from None
            start += 1  # a bracket of the prose around it
            continue
        if end - start > longest:
            longest, value = end - start, this
        start = end
    if not longest:
        raise ValueError("there is no JSON object or list in the reply")
    return _clean(value)


def without_thoughts(text: str) -> str:
    """A reply without what a model thought aloud, closed or not."""
    return thoughts_cut(text).strip()


def thoughts_cut(text: str) -> str:
    """The same with the white space around it, for a reply that goes on."""
    return _UNOPENED.sub("", _THOUGHT.sub("", text))


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends."""
    if at >= len(text):
        raise _FaultError("it ends where a value should stand", at, cut=True)
    if depth > _DEEPEST:
        raise _FaultError("it is nested too deep", at)
    char = text[at]
    if char in "{[":
        return _container(text, at, depth)
    if char in _PLAIN:
        return _string(text, at)
    if found := _NUMBER.match(text, at):
        return json.loads(found[0]), found.end()
    if (found := _WORD.match(text, at)) and found[0] in _LITERALS:
        return _LITERALS[found[0]], found.end()
    raise _FaultError("no value stands", at, cut=bool(found and found.end() == len(text)))


def _container(text: str, at: int, depth: int) -> tuple[Any, int]:
    """An object or a list; a comma may trail."""
    members: dict[str, Any] = {}
    items: list[Any] = []
    close = "}" if text[at] == "{" else "]"
    at = _skip(text, at + 1)
    while not text.startswith(close, at):
        if close == "}":
            key, at = _key(text, at)
            members[key], at = _value(text, _skip(text, at), depth + 1)
        else:
            item, at = _value(text, at, depth + 1)
            items.append(item)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(close, at):
            raise _FaultError(f"neither a comma nor {close} stands", at, cut=at >= len(text))
    return (members if close == "}" else items), at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    """A key with its colon; it may stand without quotes."""
    if text[at : at + 1] in _PLAIN:
        key, at = _string(text, at)
    elif found := _WORD.match(text, at):
        key, at = found[0], found.end()
    else:
        raise _FaultError("no key stands", at, cut=at >= len(text))
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise _FaultError("no colon follows the key", at, cut=at >= len(text))
    return key, at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    """A string in single or double quotes; lines may break in it."""
    quote, parts, at = text[at], [], at + 1
    while True:
        found = _PLAIN[quote].match(text, at)
        assert found is not None  # noqa: S101  (it matches the empty text too)
        parts.append(found[0])
        at = found.end()
        if at + 1 >= len(text) and text[at : at + 1] != quote:
            raise _FaultError("a string has no end", at, cut=True)
        if text[at] == quote:
            return "".join(parts), at + 1
        escaped = text[at + 1]
        if size := _HEX.get(escaped, 0):
            code = text[at + 2 : at + 2 + size]
            if not re.fullmatch(rf"[0-9a-fA-F]{{{size}}}", code) or int(code, 16) > sys.maxunicode:
                raise _FaultError(f"\\{escaped} is followed by no code", at, cut=at + 2 + size > len(text))
            parts.append(chr(int(code, 16)))
        else:
            parts.append(_ESCAPES.get(escaped, escaped))
        at += 2 + size


def _describe(text: str, fault: _FaultError) -> str:
    near = " ".join(text[max(0, fault.at - 40) : fault.at + 20].split())
    return (
        f"the JSON {'is cut off' if fault.cut else 'cannot be read'}: {fault} in "
        "line "
        f"{text.count(chr(10), 0, fault.at) + 1}, near {near!r}"
    )


def _skip(text: str, at: int) -> int:
    """Past white space and comments."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _clean(value: Any) -> Any:
    """Surrogates joined to the characters that they stand for; a single one is no character and becomes
    `?`."""
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.loads(without_halves(written).replace("\ufffd", "?"))
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
