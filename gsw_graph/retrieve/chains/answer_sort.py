"""What sort of a kind a question asks for, and whether an answer is one: a county is a place, and no country;
a league is a group, and no team. English; which words go together is ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Sort: TypeAlias = "tuple[int, int]"  # a kind of _KINDS, and a line of it
Sorts: TypeAlias = "frozenset[Sort]"

# Kinds of things; the lines of a kind exclude each other, the words of a line say the same.
_KINDS = (
    (
        "continent",
        "country nation kingdom republic",
        "state province",
        "region area part quarter",
        "county district municipality borough parish arrondissement canton prefecture department",
        "city town village hamlet settlement capital community township suburb",
        "river stream creek tributary",
        "lake",
        "sea ocean gulf bay strait",
        "mountain peak summit hill",
        "range",
        "island",
        "street road avenue highway",
    ),
    (
        "league conference association",
        "team club franchise side",
        "party",
        "university college school academy institute institution",
        "company corporation firm label publisher manufacturer",
        "church denomination communion diocese",
        "band duo",
        "army regiment",
        "agency ministry",
    ),
    (
        "song single track",
        "album record",
        "film movie",
        "book novel",
        "series show sitcom program programme",
        "magazine newspaper journal",
        "play opera musical",
        "game",
    ),
    ("century", "decade", "year", "month", "day date", "season"),
)
_SORT_OF = {
    word: (kind, number)
    for kind, lines in enumerate(_KINDS)
    for number, line in enumerate(lines)
    for word in line.split()
}
# Relations written "Subject >> relation": the sorts that are right, and those that are not; "" is every
# other of the kind. What a place lies in next, or a birthplace, is no country: that has its own relation.
_RELATIONS = (
    (re.compile(r"administrative territorial entity"), "county state city", "country continent"),
    (re.compile(r"place of (?:birth|death|burial)|residence"), "city", "country continent state"),
    (re.compile(r"country"), "country", ""),
    (re.compile(r"continent"), "continent", ""),
    (re.compile(r"capital|headquarters"), "city", ""),
    (re.compile(r"educated at"), "university", ""),
    (re.compile(r"sports team"), "team", ""),
    (re.compile(r"political party"), "party", ""),
    (re.compile(r"body of water|watercourse"), "river lake sea", ""),
    (re.compile(r"\bleague"), "league", ""),
    (re.compile(r"record label|publisher"), "company", ""),
)
_WORD = re.compile(r"\w+")
_ASKS = re.compile(
    r"\b(?:which|what)(?: (?:is|was|are|were) (?:the|an?))?(?: the)?(?: names? of(?: the)?)? "
    r"(?!kinds?\b|types?\b|sorts?\b)(.*)"
)
_ENDS_A_NOUN = frozenset(
    "did do does is was are were has have had can will in on at to of for from by with that which who".split()
)
_LONGEST = 7  # words of what is asked for: "Which American professional football team"


@dataclass(frozen=True, slots=True)
class AskedSort:
    """The sorts an answer may be, and those it may not; both are empty where a question does not say."""

    right: Sorts = frozenset()
    wrong: Sorts = frozenset()


NO_SORT = AskedSort()


@lru_cache(maxsize=4096)
def asked_sort(question: str) -> AskedSort:
    """What a sub-question says of the sort of its answer: "in which county", "#1 >> country"."""
    _, sign, relation = question.partition(">>")
    if not sign:
        sort = _noun(question)
        return AskedSort(frozenset({sort}), _others(frozenset({sort}))) if sort else NO_SORT
    for pattern, right, wrong in _RELATIONS:
        if pattern.search(relation.lower()):
            sorts = _line(right)
            return AskedSort(sorts, _line(wrong) or _others(sorts))
    return NO_SORT


def sort_fit(asked: AskedSort, question: str, answers: Sequence[str], descriptions: Sequence[str]) -> float:
    """1 where a pair's answer is of a sort asked for, -1 where it is of another of the same kind, 0 where
    one of the two does not say. question, answers, descriptions: of the pair."""
    if not asked.right:
        return 0.0
    given = _given(question, tuple(answers), tuple(descriptions))
    return 1.0 if given & asked.right else -1.0 if given & asked.wrong else 0.0


@lru_cache(maxsize=65536)
def _given(question: str, answers: tuple[str, ...], descriptions: tuple[str, ...]) -> Sorts:
    """By the noun that the pair's question asks for, else by the last word of an answer ("Warren County"),
    else by roles and states."""
    if sort := _noun(question):
        return frozenset({sort})
    by_name = {_sort(words[-1]) for answer in answers if len(words := _WORD.findall(answer.lower())) > 1}
    if named := by_name - {None}:
        return frozenset(sort for sort in named if sort)
    states = [part for text in descriptions for part in re.split(r"[;:,]", text.lower())]
    return frozenset(sort for state in states if (sort := _head(_WORD.findall(state))))


@lru_cache(maxsize=65536)
def _noun(question: str) -> Sort | None:
    """The sort of the noun after "which" or "what"; "what kind of" asks for none of these."""
    match = _ASKS.search(question.lower())
    return _head(_WORD.findall(match[1])[:_LONGEST]) if match else None


def _head(words: Sequence[str]) -> Sort | None:
    """The last known sort before a word that ends the noun: "state park in the city" is a park."""
    found = None
    for word in words:
        if word in _ENDS_A_NOUN:
            break
        found = _sort(word) or found
    return found


def _sort(word: str) -> Sort | None:
    singular = f"{word[:-3]}y" if word.endswith("ies") else word[:-1] if word.endswith("s") else word
    return _SORT_OF.get(word) or _SORT_OF.get(singular)


def _line(words: str) -> Sorts:
    return frozenset(_SORT_OF[word] for word in words.split())


def _others(sorts: Sorts) -> Sorts:
    """Every other sort of the same kinds."""
    kinds = {kind for kind, _ in sorts}
    return frozenset((kind, number) for kind in kinds for number in range(len(_KINDS[kind]))) - sorts
