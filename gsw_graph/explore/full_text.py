"""The text of an answer in full as people read it: each statement with its marks, lines that fit a screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.text.safe_text import clean, one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, Statement

_MARKS = re.compile(r"(?:[ \n](?:\[\d+\])+)?")  # [1][3], behind code in a line of their own
_PART = re.compile(r"\n|[^\S\n]+|\S+")
_FENCES = ("```", "~~~")
_CODE = ("    ", "\t", *_FENCES)


def short_and_full(answer: Answer) -> tuple[str, str]:
    """Return the short answer in one line and the text in full, each empty if the other says the same. A
    short answer with a note is the text."""
    short = one_line(answer.answer or "")
    text = clean(answer.text or "").strip()
    if text == short and not any(map(note_of, answer.statements)):
        return short, ""
    unmarked = one_line(_MARKS.sub("", text))
    is_same = unmarked.removesuffix(".") == short.removesuffix(".")
    return ("" if is_same else short), text


def marked_text(answer: Answer) -> str:
    """Return the text of an answer, with a remark behind each statement that needs one."""
    shown, rest = "", clean(answer.text or "").strip()
    for statement in answer.statements:
        stated = clean(statement.text)
        if not stated:
            continue
        before, text, after = rest.partition(stated)
        rest = _MARKS.sub("", after, count=1)
        shown += before + text + _noted(statement, after.removesuffix(rest))
    return shown + rest


def _noted(statement: Statement, marks: str) -> str:
    """Return the marks behind a statement and the note on it, which has the numbers of one that follows."""
    note = note_of(statement)
    kept = "" if statement.follows else marks
    return f"{kept} ({note})" if note else marks


def note_of(statement: Statement) -> str:
    """Return the remark on a statement: that it is inferred, or which of its names are in no source."""
    notes = []
    if statement.follows:
        notes.append(f"not stated, follows from {[place + 1 for place in statement.citations]}")
    if statement.unsupported:
        notes.append(f"in no source: {one_line(', '.join(statement.unsupported))}")
    return "; ".join(notes)


class Lines:
    """Break the lines of a text that comes in pieces between words; lines of code stay as they are.

    Args:
        width: Characters of a line.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._line = ""
        self._is_fenced = False

    def add(self, piece: str) -> str:
        """Return the next piece with its breaks."""
        shown = ""
        for part in _PART.findall(piece):
            line = self._line + part
            is_code = self._is_fenced or line.startswith(_CODE)
            if part == "\n":
                self._is_fenced ^= line.lstrip().startswith(_FENCES)
                line = ""
            elif len(line.rstrip()) > self._width and self._line.endswith(" ") and not is_code:
                shown = shown.rstrip(" ") + "\n"
                line = part
            shown += part
            self._line = line
        return shown
