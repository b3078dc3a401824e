"""Names, dates and titles by rule, with no model at all: what a memory of plain text is built from.

A document is read alone, never against a corpus, so that the graph does not depend on what was loaded before or in which order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gsw_graph.extract.dates import CALENDAR_WORDS, find_dates
from gsw_graph.model import Document, Entity, Workspace
from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD, normalise

_SPLIT_AT = frozenset("and in on for of the at to with".split())
_MAX_CONNECTORS = 2
_MAX_TOKENS = 10
_ABBREVIATIONS = frozenset("dr mr mrs ms st jr sr prof gen col lt sgt capt rev hon gov sen rep mt ft vs no".split())
_PARENTHESIS = re.compile(r"\s?\([^()]*\)")  # stops at what opens the next, so that no title makes it slow
_POSSESSIVE = re.compile(r"['’]s$")
_SENTENCE_END = re.compile(r"[.!?:;\n•]|[\"“”(\[]\s*$")


@dataclass(slots=True)
class _Token:
    """A word in its place; `named` where it is capitalised, or a number that follows such a word."""

    begin: int
    end: int
    word: str
    named: bool


@dataclass(slots=True)
class _Found:
    """What a document says of one name."""

    name: str
    passages: dict[int, None] = field(default_factory=dict)  # a dict keeps the order
    titles: dict[int, None] = field(default_factory=dict)
    starter: bool = True  # seen only as a single word that begins a sentence
    days: tuple[str, str] | None = None  # what a date covers


def extract(document: Document) -> Workspace:
    """The workspace of a document: its names and dates, each an entity with the passages it stands in, sorted by key."""
    found: dict[str, _Found] = {}
    lower: set[str] = set()

    def add(name: str, position: int, *, starter: bool = False, title: bool = False) -> _Found | None:
        if not (key := normalise(name)):
            return None
        entry = found.setdefault(key, _Found(name))
        entry.passages[position] = None
        entry.starter &= starter
        if title:
            entry.titles[position] = None
        return entry

    for passage in document.passages:
        pieces: list[str] = []
        end = 0
        for date in find_dates(passage.text):
            pieces += (passage.text[end : date.begin], ";", " " * (date.end - date.begin - 1))
            end = date.end
            if date.days and (entry := add(date.text, passage.position)):
                entry.days = date.days
        text = "".join([*pieces, passage.text[end:]])
        for name, starter in names(text):
            add(name, passage.position, starter=starter)
        lower.update(word for word in WORD.findall(text) if word.islower())
        for name in title_names(passage.title):
            add(name, passage.position, title=True)
    entities = tuple(
        Entity(entry.name, key, tuple(entry.passages), tuple(entry.titles), (("date", ()),) if entry.days else (), *(entry.days or ()))
        for key, entry in sorted(found.items())
        if not (entry.starter and key in lower)
    )
    return Workspace(document, "rules", entities)


def names(text: str) -> Iterator[tuple[str, bool]]:
    """The names of a text with their parts, each with whether it is a single word that begins a sentence."""
    run: list[_Token] = []
    starts = False  # does the run begin a sentence
    end = 0
    for match in WORD.finditer(text):
        word, gap = match[0], text[end : match.start()]
        end = match.end()
        token = _Token(match.start(), end, word, named=word[0].isupper() or (word[0].islower() and word != word.lower()))
        joined = bool(run) and (gap in (" ", " & ") or (gap == ". " and _abbreviates(run[-1].word)))
        if joined and word.isdigit() and run[-1].named and run[-1].word.casefold() not in FUNCTION_WORDS:
            token.named = True
        if joined and (token.named or (word in CONNECTORS and _connectors_at_end(run) < _MAX_CONNECTORS)):
            run.append(token)
            continue
        yield from _names_of(text, run, starts)
        run = []
        if token.named:
            starts = match.start() == 0 or not gap or bool(_SENTENCE_END.search(gap))
            run.append(token)
    yield from _names_of(text, run, starts)


def title_names(title: str) -> Iterator[str]:
    """The full title, the title without its parenthesis, and the part before its first comma where that is more than punctuation."""
    bare = _PARENTHESIS.sub("", title).strip()
    first = bare.partition(", ")[0]
    yield from dict.fromkeys(name for name in (title, bare, first if any(map(str.isalnum, first)) else "") if name)


def _abbreviates(word: str) -> bool:
    return (len(word) == 1 and word != "I") or word.casefold() in _ABBREVIATIONS


def _connectors_at_end(run: list[_Token]) -> int:
    return next((count for count, token in enumerate(reversed(run)) if token.named), len(run))


def _names_of(text: str, run: list[_Token], starts: bool) -> Iterator[tuple[str, bool]]:
    """The names in a run of capitalised words and connectors: the whole, and its parts between connectors."""
    while run and not run[-1].named:
        run = run[:-1]
    first = next((n for n, token in enumerate(run) if token.named and token.word.casefold() not in FUNCTION_WORDS), len(run))
    run, starts = run[first:], starts and not first
    if not any(_names(token) for token in run):
        return
    parts: list[list[_Token]] = [[]]
    for token in run:
        if not token.named and token.word in _SPLIT_AT:
            parts.append([])
        elif token.named or parts[-1]:
            parts[-1].append(token)
    if len(run) <= _MAX_TOKENS:
        yield _slice(text, run), starts and len(run) == 1
    if len(parts) > 1:
        for part in parts:
            if part and len(part) <= _MAX_TOKENS and part[0].word.casefold() not in FUNCTION_WORDS and any(_names(token) for token in part):
                yield _slice(text, part), False


def _names(token: _Token) -> bool:
    """Whether a word can make a name by itself."""
    return token.named and token.word.casefold() not in CALENDAR_WORDS


def _slice(text: str, tokens: list[_Token]) -> str:
    """The name as written, without a possessive 's."""
    return _POSSESSIVE.sub("", text[tokens[0].begin : tokens[-1].end])
