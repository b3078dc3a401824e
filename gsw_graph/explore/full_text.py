"""The text of an answer in full as people read it: each statement with its marks, lines that fit a screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.text.safe_text import clean, one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, Statement

_MARKS = re.compile(r"(?:[ \n]?\[\d[\d, ]*\])*")  # [1][3], behind code in a line of their own
_PART = re.compile(r"\n|[^\S\n]+|\S+")
_FENCES = ("```", "~~~")
_CODE = ("    ", "\t", *_FENCES)


def short_and_full(answer: Answer) -> tuple[str, str]:
    """Return the short answer in one line and the text in full, each empty if the other says the same."""
    short = one_line(answer.answer or "")
    text = clean(answer.text or "").strip()
    if _words(text) != _words(short):
        return short, text
    return (short, "") if text == short else ("", text)


def _words(text: str) -> str:
    return one_line(_MARKS.sub("", text)).removesuffix(".")


def marked_text(answer: Answer) -> str:
    """Return the text of an answer, and behind each statement what people must know of it."""
    shown = apart = ""
    rest = clean(answer.text or "").strip()
    for statement in answer.statements:
        text = clean(statement.text)
        start = rest.find(text)
        if start >= 0:
            end = start + len(text)
            unmarked = _MARKS.sub("", rest[end:], count=1)
            marks = rest[end : len(rest) - len(unmarked)]
            shown += rest[:end] + _noted(statement, marks)
            rest = unmarked
        elif note_of(statement):
            apart += f"\n\n{text}{_noted(statement, '')}"
    return shown + rest + apart


def _noted(statement: Statement, marks: str) -> str:
    """Return the marks behind a statement and the note on it, which has the numbers of one that follows."""
    note = note_of(statement)
    if not note:
        return marks
    if statement.follows:
        between = (marks or " ")[0]  # a line break behind code
        return f"{between}({note})"
    return f"{marks} ({note})"


def note_of(statement: Statement) -> str:
    """Return what people must know of a statement: that it is not stated, its names that are in no source."""
    notes = []
    if statement.follows:
        numbers = [place + 1 for place in statement.citations]
        notes.append(f"not stated, follows from {numbers}" if numbers else "not stated")
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
        self._line = self._space = ""
        self._is_fenced = False

    def add(self, piece: str) -> str:
        """Return the next piece with its breaks."""
        shown = ""
        for part in _PART.findall(piece):
            if part == "\n":
                self._is_fenced ^= self._line.lstrip().startswith(_FENCES)
                self._line = self._space = ""
                shown += part
            elif part.isspace():
                self._space += part
            else:
                shown += self._word(part)
        return shown

    def _word(self, word: str) -> str:
        """Return a word with what parts it from the one before."""
        between, self._space = self._space, ""
        line = self._line + between + word
        is_code = self._is_fenced or line.startswith(_CODE)
        if self._line and between and len(line) > self._width and not is_code:
            between, line = "\n", word
        self._line = line
        return between + word
