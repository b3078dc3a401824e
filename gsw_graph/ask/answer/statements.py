"""The full form of a reply: a short answer, and statements that each end with the numbers of their lines. A
reply is read into statements, and written again with the numbers of citations; both also as it comes.

    Answer: no, unless the pump was primed
    In full:
    The pump does not start dry. [1]
    It then runs for nine minutes. [follows from 3, 5]
    Missing: When was the pump built?
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.reply import ANSWER, NO_ANSWER, SOURCES, parse_reply, plain, with_labels
from gsw_graph.model.results import Citation, Statement
from gsw_graph.models.chat.request import answer_text
from gsw_graph.values import unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LABEL = re.compile(
    rf"""[ \t>#*_-]*(?:
      (?P<answer>(?:final[ ]|short[ ])?(?:{ANSWER}))
    | (?P<full>in[ ]full|(?:full|long)[ ]answer)
    | (?P<missing>(?:still[ ])?missing)
    | (?P<refusal>not[ ]in[ ]the[ ]evidence)
    | (?P<sources>(?:{SOURCES})(?=[ \t*_]*[:：][ \t*_]*(?:lines?[ \t]+)?[\[(]?\d))
    )[ \t*_]*[:：][ \t*_]*""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_MISSING = re.compile(r"^[ \t>#*_-]*(?:still )?missing[ \t*_]*[:：]", re.IGNORECASE | re.MULTILINE)
_FULL = re.compile(r"^[ \t>#*_-]*in full[ \t*_]*[:：]", re.IGNORECASE | re.MULTILINE)
_NOTHING = re.compile(r"\W*(?:none|nothing|no|n/a)?\W*", re.IGNORECASE)
_SIGN = "(?i:follow|infer|deriv|conclu|folgt|abgeleitet)"  # of a statement that is not stated
_FOLLOWS = rf"[^\[\]()\d]{{0,30}}{_SIGN}[^\[\]()\d]{{0,30}}"
_DERIVED = r"(?i:follows?|inferred|derived|folgt|abgeleitet)\s+(?i:from|aus)"  # (concluded in 1904) is text
_NUMBERS = r"\d{1,4}(?:(?:\s*[,;]\s*|\s+and\s+)\d{1,4})*"
_MARK = (
    rf"(?:\[(?:{_FOLLOWS}|(?i:lines?|sources?)\s+)?{_NUMBERS}\]|\({_DERIVED}\s+(?i:lines?\s+)?{_NUMBERS}\))"
)
# A mark stands apart from the word before it, or at the end of a phrase: args[1] is code.
_PLACED = rf"(?:(?<!\w)|(?={_MARK}(?:[.,;:!?\[(]|[ \t]*$))){_MARK}"
_PLACED_MARK = re.compile(rf"\s{{0,20}}({_PLACED})", re.MULTILINE)
_MARKS = rf"(?:{_PLACED}[ \t]*)+"
_CODE = re.compile(
    r"(?P<block>^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z))"
    r"|(?P<ticks>`+)[^`\n]+?(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
# The end of a statement, in a text whose blocks of code are \0: marks at the end of a sentence or line; a
# line break, unless code, a mark or the rest of the sentence follows.
_END = re.compile(
    rf"[.!?…。！？\0][\"'”»)*]*\s*{_MARKS}(?=\s|$)|{_MARKS}(?:[.!?;。][*\"”»)]*)?[ \t]*(?=\n|$)"
    rf"|{_MARKS}[.!?。](?=\s)|\n(?!\s*(?:\0|{_PLACED}|[a-z]))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Hold a statement of a reply.

    Attributes:
        text: The text without marks.
        lines: Line numbers from 1 that the model names.
        follows: Whether the statement follows from the lines without being stated there.
        gap: Space between the statement before and this: a space, or one or two line breaks.
    """

    text: str
    lines: tuple[int, ...] = ()
    follows: bool = False
    gap: str = " "


@dataclass(frozen=True, slots=True)
class FullReply:
    """Hold a reply in either form: statements and perhaps a short answer, or no statement and the missing
    evidence.

    Attributes:
        answer: The short answer.
        parts: The statements; a reply in the short form has its answer as the only statement.
        missing: Missing evidence; if there are statements, for a part of the question.
        in_full: Whether the reply is in the full form.
    """

    answer: str | None = None
    parts: tuple[Part, ...] = ()
    missing: str = ""
    in_full: bool = True


def parse_full(reply: object) -> FullReply:
    """Read a reply in the full form, with or without its labels, or else in the short form.

    Raises:
        ValueError: The reply has neither an answer nor a text about missing evidence.
    """
    text = answer_text(str(reply))
    sections = _sections(text)
    answer, body = _bodies(sections)
    missing = plain(sections.get("missing") or sections.get("refusal", ""))
    if _NOTHING.fullmatch(missing):
        missing = ""
    parts = tuple(split(body))
    if NO_ANSWER.fullmatch(answer) and not any(part.lines for part in parts):
        return FullReply(missing=missing)
    if "full" in sections and parts:
        numbers = tuple(map(int, re.findall(r"\d{1,4}", sections.get("sources", ""))))
        if numbers and not any(part.lines for part in parts):
            parts = tuple(Part(part.text, numbers, part.follows, part.gap) for part in parts)
        return FullReply(answer or None, parts, missing)
    if any(part.lines for part in parts) and with_labels(text) == text:
        return FullReply(answer or None, parts, missing)
    short = parse_reply(_FULL.sub("", _MISSING.split(text)[0]))
    if short.answer is None:
        return FullReply(missing=missing or short.missing, in_full=False)
    part = Part(short.answer, short.sources, short.inferred)
    return FullReply(short.answer, (part,), missing, in_full=False)


def _sections(text: str) -> dict[str, str]:
    """Return the text after each label; "" has what is before the first. A line of a block of code is no
    label."""
    sections: dict[str, str] = {}
    label = ""
    is_code = False
    for line in text.splitlines(keepends=True):
        found = None if is_code else _LABEL.match(line)
        if found is not None:
            label = str(found.lastgroup)
            line = line[found.end() :]
        elif _FENCE.match(line):
            is_code = not is_code
        elif label == "missing" and _PLACED_MARK.search(line):  # a statement, below what is missing
            label = "full"
        sections[label] = sections.get(label, "") + line
    return sections


def _bodies(sections: dict[str, str]) -> tuple[str, str]:
    """Return the short answer and the text of the statements: below its label, or below the short answer."""
    lines = sections.get("answer", "").strip().split("\n", 1)
    answer = plain(_PLACED_MARK.sub("", lines[0]))
    if "full" in sections:
        return answer, sections["full"]
    if "answer" not in sections:
        return "", sections.get("", "")
    if len(lines) == 1:
        return answer, ""
    return ("", sections["answer"]) if _PLACED_MARK.search(lines[0]) else (answer, lines[1])


def split(body: str) -> Iterator[Part]:
    """Yield the statements of a text."""
    masked = _CODE.sub(_mask, body)
    begin = last = 0
    text, numbers, follows, gap = "", list[int](), False, ""
    ends = [match.end() for match in _END.finditer(masked)]
    for end in [*ends, len(body)]:
        marks = list(_PLACED_MARK.finditer(masked, begin, end))
        pieces = []
        at = begin
        for mark in marks:
            pieces.append(body[at : mark.start()])
            at = mark.end()
        pieces.append(body[at:end])
        written = "".join(pieces).strip()
        if written:
            if text:
                yield Part(text, tuple(dict.fromkeys(numbers)), follows, gap)
            start = end - len(body[begin:end].lstrip())
            breaks = body[last:start].count("\n")
            text, numbers, follows, gap = written, [], False, "\n" * min(breaks, 2) or " "
        for mark in marks:
            numbers += map(int, re.findall(r"\d+", mark[1]))
            follows = follows or re.search(_SIGN, mark[1]) is not None
        begin = end
        last = len(body[:end].rstrip())
    if text:
        yield Part(text, tuple(dict.fromkeys(numbers)), follows, gap)


def _mask(code: re.Match[str]) -> str:
    return ("\0" if code["block"] else "x") * len(code[0])


class Written:
    """Write an answer in full, a statement at a time.

    Args:
        cite: Returns the citation of a line, by its number and the text of a statement, or None if there is
            no such line.

    Attributes:
        text: All statements with the numbers of their citations, from 1: [1][3].
        plain: All statements without numbers.
        citations: Citations, each once, in the order of the text.
        statements: See `Answer`.
    """

    def __init__(self, cite: Callable[[int, str], Citation | None]) -> None:
        self._cite = cite
        self.text = self.plain = ""
        self.citations: list[Citation] = []
        self.statements: list[Statement] = []

    def add(self, part: Part, unsupported: list[str] | None = None) -> None:
        """Write the next statement. unsupported: See `Statement`."""
        places = []
        for number in part.lines:
            citation = self._cite(number, part.text)
            if citation is None:
                continue
            if citation not in self.citations:
                self.citations.append(citation)
            places.append(self.citations.index(citation))
        places = unique(places)
        gap = part.gap if self.statements else ""
        marks = "".join(f"[{place + 1}]" for place in places)
        if marks:
            space = "\n" if _FENCE.match(part.text.rpartition("\n")[2]) else " "
            marks = f"{space}{marks}"
        self.text += f"{gap}{part.text}{marks}"
        self.plain += f"{gap}{part.text}"
        self.statements.append(Statement(part.text, places, part.follows, unsupported or []))


def whole(answer: str | None, text: str) -> str:
    """Return the short answer, if any, and the text below, in the form of a stream."""
    return f"{answer}\n\n{text}" if answer else text


class FullStream:
    """Show a reply in the full form as it comes: the short answer, then each statement when the next one
    begins, with the numbers of its citations and without labels. The text shown is a beginning of the answer
    in the end."""

    def __init__(self, show: Callable[[str], None], cite: Callable[[int, str], Citation | None]) -> None:
        self._show = show
        self._cite = cite
        self._shown = ""
        self.again()

    def again(self) -> None:
        """Start again with another reply."""
        self._text = ""
        self._written = Written(self._cite)

    def __call__(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._text += piece
        if "\n" not in piece:  # a statement is shown when a line has ended
            return
        sections = _sections(answer_text(self._text))
        if "full" not in sections:
            return
        answer, body = _bodies(sections)
        settled = list(split(_settled(body)))[:-1]
        for part in settled[len(self._written.statements) :]:
            self._written.add(part)
        has_lines = any(part.lines for part in settled)
        if settled and (has_lines or not NO_ANSWER.fullmatch(answer)):
            self.end(whole(answer, self._written.text))

    def end(self, text: str) -> None:
        """Show the rest of a text if its beginning is already shown."""
        if len(text) > len(self._shown) and text.startswith(self._shown):
            piece, self._shown = text[len(self._shown) :], text
            self._show(piece)


def _settled(body: str) -> str:
    """Return the beginning of an unfinished text of which only the last statement may change."""
    before, _, line = body.rpartition("\n")
    return before if any(sign in line for sign in "`~[(") else body
