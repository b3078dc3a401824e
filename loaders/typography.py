"""What typesetting does to words: superscripts, hyphens at the ends of lines, soft hyphens."""

from __future__ import annotations

import re
from collections.abc import Callable, Set

# Lookbehind windows are bounded, so that no text makes these slow.
_WINDOW = 60
_BASE = re.compile(r"[^\W\d_]+$|\d[\d.,]*$")
_MARKED = re.compile(r"\[.*\]|\(.*\)|[^\w\s]+", re.DOTALL)
_NUMBER = re.compile(r"[-+\u2212\u2013]?\d+")
_NOTES = re.compile(r"\d+(?:\s*[,;\u2013-]\s*\d+)+")
_AFTER_OPERATOR = re.compile(r"[×·*=+/^≈~<>±\u2212]\s*\d[\d.,]*$")
_TERM = re.compile(r"\([^()]*[-+*/·×^=\u2212][^()]*\)$")
_POWERS = {"10", "2"}
_UNITS = frozenset("km hm dm cm mm µm nm ft in yd mi sec min kg mol cm rad ha eV".split())
_SIGNS = {"tm": "™", "sm": "℠"}
_VARIABLES = frozenset("nxkmijtpN")


def superscript(before: str, mark: str, after: str = "") -> str:
    """Write a superscript in a line of plain text: 10^6, m^2, 1902[3] for the number of a note, 19th.

    Args:
        before: The text that it follows.
        mark: What stands above the line.
        after: The text that follows it.
    """
    before, mark = before[-_WINDOW:], " ".join(mark.split())
    if not mark or _MARKED.fullmatch(mark):
        return mark
    match = _BASE.search(before)
    base = match[0] if match else ""
    note = f"[{mark}]"
    if _NOTES.fullmatch(mark):
        return note
    if _NUMBER.fullmatch(mark):
        if not mark[0].isdigit():
            return f"^{mark}"
        if not base and not before[-1:].strip() and after[:1].isalpha():
            return mark  # an isotope
        if base[:1].isdigit():
            exponent = base in _POWERS or bool(_AFTER_OPERATOR.search(before))
        else:
            exponent = len(base) == 1 or base in _UNITS or bool(_TERM.search(before))
        return f"^{mark}" if exponent else note
    if mark.isalpha():
        if mark.lower() in _SIGNS:
            return _SIGNS[mark.lower()]
        if len(mark) > 1 or mark == "o":
            return mark  # 19th, Mme, No
        if base[:1].isdigit():
            return f"^{mark}" if mark in _VARIABLES else mark if len(base) < 3 else note
        return f"^{mark}" if len(base) == 1 else note
    return f"^{mark}" if mark.isalnum() or mark[:-1].isdigit() else f"^({mark})"


def subscript(before: str, mark: str) -> str:
    """Write a subscript in a line of plain text: H2O, x_i, log_2."""
    mark = " ".join(mark.split())
    match = _BASE.search(before[-_WINDOW:])
    chemical = match is not None and match[0].isalpha() and len(match[0]) < 3
    return mark if not mark or (chemical and mark.isdigit()) else f"_{mark}"


_SOFT = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")
_LINE_END = re.compile(r"(?<=\w)[-\u2010]\n[ \t]*(?=\w)")
_LEFT = re.compile(r"[\w'’-]+$")
_RIGHT = re.compile(r"\w+")
_WORDS = re.compile(r"\w+(?:[-\u2010]\w+)*")
# A hyphen before these is one of several words that share an end: pre- and post-war.
_SHARED = frozenset("and or nor to und oder bis et ou y e o en of og och".split())
# First and last parts of compounds that keep their hyphen.
_FIRST = frozenset(
    "self ex well half all cross high low long short full part mid quasi one two three four five six seven "
    "eight nine ten twenty thirty forty fifty sixty seventy eighty ninety first second third much so left "
    "right open hard soft old new good best better cold hot wide deep large small great world co vice "
    "mother father brother sister north south east west anglo franco time ill far then once ever".split()
)
_LAST = frozenset(
    "year old based like time century made known born led free wide in law up down off out day week month "
    "century general elect style type level term scale speaking minded sized shaped looking century".split()
)


def vocabulary(text: str) -> Set[str]:
    """Return the words of a text in small letters, those with hyphens whole."""
    return {word.replace("\u2010", "-") for word in _WORDS.findall(text.lower())}


def join_lines(text: str, words: Callable[[], Set[str]] | None = None) -> str:
    """Join the words that hyphens part at line ends, and take soft hyphens out.

    A hyphen that belongs to its word stays: where the text writes the word so elsewhere, before a capital or
    a digit, and in compounds such as self-governing.

    Args:
        text: With line ends.
        words: Gives the vocabulary of the whole document; by default, that of `text`.
    """
    if "\u00ad" in text:
        text = _SOFT.sub("", text)
    if "-\n" not in text and "\u2010\n" not in text:
        return text
    known = words() if words else vocabulary(text)

    def joined(match: re.Match[str]) -> str:
        left = _LEFT.search(text, max(0, match.start() - _WINDOW), match.start())
        right = _RIGHT.match(text, match.end(), match.end() + _WINDOW)
        if left is None or right is None:
            return match[0]
        return _hyphen(left[0], right[0], known)

    return _LINE_END.sub(joined, text)


def _hyphen(left: str, right: str, known: Set[str]) -> str:
    first, last = left.lower(), right.lower()
    if last in _SHARED:
        return "- "
    shouted = len(left) > 1 and left.isupper() and right.isupper() and len(right) > 1
    if not (left[-1].isalpha() and right[0].isalpha()) or (right[0].isupper() and not shouted):
        return "-"
    if first + last in known:
        return ""
    if f"{first}-{last}" in known or "-" in first or first in _FIRST or last in _LAST:
        return "-"
    return ""
