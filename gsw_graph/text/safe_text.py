"""Make text and values fit to be printed: for a terminal, whose cursor and colours a document must not move,
and as JSON, which knows no half of a surrogate pair and no infinity."""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from pathlib import Path
from typing import Any

from gsw_graph.values import single_spaced

_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")  # colours and cursor movements (CSI), whole
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_REORDERING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORD = re.compile(r"\S+")
_USER = re.compile(r"^[^/?#]*@")


def clean(text: str) -> str:
    """Return a text without control characters, except newline and tab. Characters that reorder text become
    visible, as `<U+202E>`."""
    text = _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))
    text = _REORDERING.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    return _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return a clean text in one line, with every stretch of white space as one space."""
    return single_spaced(clean(text.replace("\r", "\n")))


def cut(text: str, length: int) -> str:
    """Return at most `length` characters, an ellipsis last if some are missing."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def cut_front(text: str, length: int) -> str:
    """Return at most the last `length` characters, an ellipsis first if some are missing."""
    return text if len(text) <= length else "…" + text[len(text) - length + 1 :].lstrip()


def short_source(source: str) -> str:
    """Return a source in one line, relative to the working folder if it is under it."""
    here = Path.cwd().as_posix().rstrip("/") + "/"
    is_here = os.path.normcase(source).startswith(os.path.normcase(here)) and len(source) > len(here)
    return one_line(source[len(here) :] if is_here else source)


def without_password(text: str) -> str:
    """Return a text in which no url shows a user or a password. A password of a server may hold anything, so
    that all to the last @ goes; in the path of a page an @ may stand."""
    return _WORD.sub(_bare, text)


def _bare(word: re.Match[str]) -> str:
    scheme, *pieces = word[0].split("://")
    parts = [scheme]
    while pieces:
        if not scheme.lower().endswith(("http", "https")):
            parts.append("://".join(pieces).rpartition("@")[2])
            break
        scheme = pieces.pop(0)
        parts.append(_USER.sub("", scheme, count=1))
    return "://".join(parts)


def to_json(document: Any, encoding: str = "utf-8", *, indent: int | None = None) -> str:
    """Return JSON that can be written in `encoding`: letters as they are in UTF-8, but for halves of
    surrogate pairs; escaped in any other."""
    ascii_only = codecs.lookup(encoding).name != "utf-8"
    text = json.dumps(_finite(document), ensure_ascii=ascii_only, indent=indent, default=str)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _finite(value: Any) -> Any:
    """Return a value with null for NaN and infinity, which JSON does not know."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
