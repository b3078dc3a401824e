"""Names in a text by rule: runs of capitalised words and what joins them. English; scripts without
capitals have none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.naming.dates import CALENDAR_WORDS

_SPLIT_AT = frozenset("and in on for of the at to with".split())
_MAX_CONNECTORS = 2
_MAX_TOKENS = 10
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms st jr sr prof gen col lt sgt capt rev hon gov sen rep mt ft vs no".split()
)
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


def names(text: str) -> Iterator[tuple[str, bool]]:
    """The names of a text with their parts, each with whether it is a single word that begins a sentence."""
    run: list[_Token] = []
    starts = False  # does the run begin a sentence
    end = 0
    for match in WORD.finditer(text):
        word, gap = match[0], text[end : match.start()]
        end = match.end()
        token = _Token(
            match.start(), end, word, named=word[0].isupper() or (word[0].islower() and word != word.lower())
        )
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
    """The full title, the title without its parenthesis, and the part before its first comma where that is
    more than punctuation."""
    bare = _PARENTHESIS.sub("", title).strip()
    first = bare.partition(", ")[0]
    yield from dict.fromkeys(
        name for name in (title, bare, first if any(map(str.isalnum, first)) else "") if name
    )


def _abbreviates(word: str) -> bool:
    return (len(word) == 1 and word != "I") or word.casefold() in _ABBREVIATIONS


def _connectors_at_end(run: list[_Token]) -> int:
    return next((count for count, token in enumerate(reversed(run)) if token.named), len(run))


def _names_of(text: str, run: list[_Token], starts: bool) -> Iterator[tuple[str, bool]]:
    """The names in a run of capitalised words and connectors: the whole, and its parts between connectors."""
    while run and not run[-1].named:
        run = run[:-1]
    first = next(
        (n for n, token in enumerate(run) if token.named and token.word.casefold() not in FUNCTION_WORDS),
        len(run),
    )
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
            if (
                part
                and len(part) <= _MAX_TOKENS
                and part[0].word.casefold() not in FUNCTION_WORDS
                and any(_names(token) for token in part)
            ):
                yield _slice(text, part), False


def _names(token: _Token) -> bool:
    """Whether a word can make a name by itself."""
    return token.named and token.word.casefold() not in CALENDAR_WORDS


def _slice(text: str, tokens: list[_Token]) -> str:
    """The name as written, without a possessive 's."""
    return _POSSESSIVE.sub("", text[tokens[0].begin : tokens[-1].end])
