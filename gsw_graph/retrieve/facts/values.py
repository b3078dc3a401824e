"""The value that a sentence gives for what is asked of a thing: a date, a number or a name, the one nearest
to the words that ask for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gsw_graph.names import normalise
from gsw_graph.naming.dates import CALENDAR_WORDS, find_dates
from gsw_graph.naming.finding import names
from gsw_graph.naming.numbers import Number, find_numbers
from gsw_graph.retrieve.chains.pair_score import words_of
from gsw_graph.retrieve.facts.families import stems
from gsw_graph.retrieve.times.intervals import ALWAYS, Days, Span

if TYPE_CHECKING:
    from gsw_graph.retrieve.facts.sentences import Line

Kind = Literal["date", "number", "name"]
Edge = Literal["begin", "end", "whole", "range", "life"]  # of what a date asks for; the last two are ranges

_RANGES = ("range", "life")
_JOINING = re.compile(r"(?:\s+(?:in|on|of|at|for|from|to|and|the|until|since))*\s*$")
_PLACE = re.compile(r"\b(?:in|at|on|of|near|to)\s+(?:the\s+)?(?:[a-z]+\s+){0,4}$")
BY = re.compile(r"\bby\s+(?:the\s+|a\s+|an\s+|his\s+|her\s+)?(?:[a-z]+\s+){0,3}$")
_BY = re.compile(r"\b(?:by|of)\s+(?:the\s+|a\s+|an\s+|his\s+|her\s+)?(?:[a-z]+\s+){0,3}$")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written: its days where it is a date, its number where it is one."""

    text: str
    days: Days | None = None
    span: Span | None = None
    number: Number | None = None


def value_in(
    line: Line, kind: Kind, edge: Edge, subject: str, wanted: Sequence[frozenset[str]], *, place: bool = False
) -> Value | None:
    """The value of a kind in a line; None where it has none. wanted: what is asked, as families of words.
    place: the name of one is asked for."""
    if kind == "date":
        found = date_in(line, edge, wanted)
        return None if found is None else dated(found, edge)
    if kind == "number":
        number = _number_in(line, wanted)
        return None if number is None else Value(_with_unit(line.text, number), number=number)
    name = name_in(line, subject, wanted, place=place)
    return None if name is None else Value(name)


def dated(span: Span, edge: Edge, text: str | None = None) -> Value | None:
    """A stretch of time as a value: one edge of it, or all. None where that edge is open, or what should
    have lasted is one date."""
    days = span.starts if edge == "begin" else span.ends if edge == "end" else span.days
    if (edge in ("begin", "end") and days[0] in ALWAYS) or (edge in _RANGES and span.years is None):
        return None
    return Value(text or span.text, days, span)


def date_in(line: Line, edge: Edge, wanted: Sequence[frozenset[str]]) -> Span | None:
    """The stretch of time nearest to the words asked for. The years after a name, in brackets, are its own:
    they say when it began and ended, where that is asked."""
    if not line.spans:
        return None
    for span in line.spans:
        if is_own(line, span) and asks_own(edge, wanted):
            return span
    others = [span for span in line.spans if not is_own(line, span)]
    if edge in _RANGES:
        others = [span for span in others if span.years is not None]
    places = cue_places(line.text, wanted)
    if not others or not places:
        return None
    return min(others, key=lambda span: min(_away(span.begin, span.end, place) for place in places))


def is_own(line: Line, span: Span) -> bool:
    """Whether a range stands in brackets after the name that begins the line."""
    before = line.text[: span.begin].rstrip()
    return span.is_range and before.endswith("(") and len(before) < 80 and line.number <= 1


def asks_own(edge: Edge, wanted: Sequence[frozenset[str]]) -> bool:
    """Whether what is asked is when a thing or a life itself began, ended, or both."""
    every = {word for one in wanted for word in one}
    return (
        edge == "life"
        or (edge == "begin" and bool(every & {"born", "birth", "began"}))
        or (edge == "end" and bool(every & {"died", "death", "ended"}))
    )


def _number_in(line: Line, wanted: Sequence[frozenset[str]]) -> Number | None:
    """The number nearest to the words asked for that is no part of a date; one that counts what is asked for
    before any other."""
    numbers = [
        one
        for one in find_numbers(line.text)
        if not any(span.begin < one.end and one.begin < span.end for span in line.spans)
    ]
    places = cue_places(line.text, wanted)
    if not numbers or not places:
        return None
    return min(numbers, key=lambda one: min(_away(one.begin, one.end, place) for place in places))


def _with_unit(text: str, number: Number) -> str:
    return text[number.begin : number.end] + (f" {number.unit}" if number.unit else "")


def name_in(line: Line, subject: str, wanted: Sequence[frozenset[str]], *, place: bool = False) -> str | None:
    """The name that a line gives. The title counts where the line is about the subject and its passage is
    not: "she designed the Tidewater Theatre"."""
    places = cue_places(line.text, wanted)
    own, title = words_of(subject), words_of(line.passage.title)
    found = [
        (begin, name)
        for begin, name in placed_names(line.text)
        if not words_of(name) <= own and not (title and words_of(name) <= title)
    ]
    if places and found:
        pattern = _PLACE if place else _BY

        def rank(one: tuple[int, str]) -> tuple[bool, int]:
            begin, name = one
            return (
                not pattern.search(line.text[:begin]),
                min(_away(begin, begin + len(name), cue) for cue in places),
            )

        best = min(found, key=rank)
        if place or _BY.search(line.text[: best[0]]) or own <= title:
            return best[1]
    if place or not places or not own or own <= title or not own <= words_of(line.text):
        return None
    return line.passage.title or None


def placed_names(text: str) -> list[tuple[int, str]]:
    """The names of a text with their places, the longest at each; dates, what joins a name to a date, and
    single words that begin the text apart."""
    dates = [(one.begin, one.end) for one in find_dates(text)]
    found: list[tuple[int, str]] = []
    for name, starts in sorted(set(names(text)), key=lambda one: (-len(one[0]), one[0])):
        begin = text.find(name)
        if begin < 0 or any(other <= begin < other + len(longer) for other, longer in found):
            continue
        cut = [at for at, to in dates if begin < to and at < begin + len(name)]
        kept = _JOINING.sub("", text[begin : min(cut)]) if cut else name
        word = normalise(kept)
        if not word or word in CALENDAR_WORDS or word.isdigit():
            continue
        if starts and " " not in kept and not _known(kept, text):
            continue
        found.append((begin, kept))
    return sorted(found)


def cue_places(text: str, wanted: Sequence[frozenset[str]]) -> list[int]:
    """Where the words asked for stand in a text."""
    every = {word for one in wanted for word in one}
    return [place for word, place in stems(text) if word in every]


def _known(name: str, text: str) -> bool:
    """A word that begins a sentence is a name where it stands elsewhere with a capital too."""
    return text.find(name, text.find(name) + 1) >= 0


def _away(begin: int, end: int, place: int) -> int:
    """Letters between; what stands before the word that asks is a little further."""
    return begin - place if begin >= place else place - end + 15
