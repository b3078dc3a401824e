"""What a passage states of names: that one is short for another, or another name of it; and what the first
words of an article say of its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gsw_graph.merging.spellings import abbreviates, bare, middle_names, words
from gsw_graph.names import normalise

_ADVERBS = "|".join(
    "also better best commonly formerly originally previously professionally officially popularly "
    "simply more sometimes often alternatively variously now".split()
)
_QUOTES = "[\"“”'‘’]?"
# Between two names: the second is another name of the first.
_ALIAS = re.compile(
    rf"^(?:\s*\([^()]*\))?,?\s*\(?\s*(?:(?:(?:who|which|that)\s+)?(?:is|was)\s+)?(?:"
    rf"(?:(?:{_ADVERBS})\s+){{0,3}}known(?:\s+simply)?\s+as"
    rf"|(?:(?:{_ADVERBS})\s+){{1,3}}(?:called|named|termed|titled|spelled|spelt|written\s+as"
    r"|referred\s+to\s+as|abbreviated(?:\s+(?:as|to))?)"
    rf"|abbreviated(?:\s+(?:as|to))?|referred\s+to\s+as|a\.?k\.?a\.?|officially|(?P<birth>née|nee|born)"
    rf")\s+(?:the\s+)?{_QUOTES}$",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"{_QUOTES}\s*(?:[,.;:()\]–—]|(?:is|was|are|were|in|and|or|at|on|by|to|who|which)\b|$)")
# Before a name that is a part of what is meant: "the Battle of X, also known as".
_PART = re.compile(r"\b(?:of|de|von|van|del|di|da|for|in|at|on|to|from|near|by|with|and)\s+(?:the\s+)?$")
_OPENS = re.compile(rf"^\s*{_QUOTES}\s*\(\s*(?:the\s+|or\s+|also\s+)?{_QUOTES}$", re.IGNORECASE)
_CLOSES = re.compile(rf"{_QUOTES}\s*[),;]")
_IS = re.compile(
    r"[\"”']?\s*(?:,[^.(]{1,60},?\s*)?(?:\((?:[^()]|\([^()]*\))*\)\s*,?\s*)?(?:[^.()]{1,80},\s*)?(?:is|was|are|were)\b"
)
_NO_NAMES = frozenset(_ADVERBS.split("|"))
_JOINED = (" and ", " or ", " & ")
_ALIAS_ROLES = frozenset(["alias", "abbreviation", "acronym", "nickname"])
_OF = re.compile(
    r"^(?:(?:an?|the|its|their|his|her|another|other|full|short|shortened|former|old|official|original"
    r"|common|alternative|alternate|english|native|local|nick|birth|stage|pen|abbreviated|legal|real"
    r"|formal|popular)\s*)*"
    r"(?:name|title|abbreviation|acronym|alias|form|initials|spelling|nickname|term|designation)?\s*(?:of|for)\s+(.+)$",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"^(?:full|birth|real|complete|legal|official) name$", re.IGNORECASE)
_BETWEEN = 60  # characters between two names of a statement
_NEXT = 5  # names that may stand between them


@dataclass(frozen=True, slots=True)
class Name:
    """A name as a passage has it: the id of its concept, as written, whether it is the title, and the states
    of its roles."""

    key: str
    written: str
    title: bool
    roles: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """That one concept is another. how: `abbreviation`, `alias` or `opening` (of an article that is
    called as the first one is); words: in which it stands."""

    one: str
    other: str
    how: str
    words: str


def statements(title: str, text: str, names: Sequence[Name]) -> Iterator[Statement]:
    """What a passage says of its names."""
    by_key = {name.key: name for name in names}
    yield from _of_roles(names, by_key)
    spans = list(_spans(text, names))
    yield from _opening(title, text, spans, by_key)
    for n, (begin, end, key) in enumerate(spans):
        for other_begin, other_end, other in spans[n + 1 : n + 1 + _NEXT]:
            between = text[end:other_begin]
            if len(between) > _BETWEEN:
                break
            if key == other:
                continue
            if _OPENS.match(between) and _CLOSES.match(text, other_end):
                how = "abbreviation" if abbreviates(*sorted((key, other), key=len)) else ""
            else:
                whole = _ENDS.match(text, other_end) and not _PART.search(text, max(0, begin - 20), begin)
                found = _ALIAS.match(between) if whole else None
                how = "alias" if found and _plausible(by_key[key], by_key[other], found["birth"]) else ""
            if how:
                yield Statement(key, other, how, text[begin : other_end + 1])


def _spans(text: str, names: Sequence[Name]) -> Iterator[tuple[int, int, str]]:
    """Where names stand in a text, in order: the longest that begin at a place, none within another."""
    found: dict[int, tuple[int, str]] = {}
    for name in names:
        for begin, end in places(text, name.written):
            if end > found.get(begin, (0, ""))[0]:
                found[begin] = end, name.key
    last = 0
    for begin in sorted(found):
        end, key = found[begin]
        if begin >= last:
            yield begin, end, key
            last = end


def places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where a name stands in a text as whole words."""
    begin = text.find(name) if name else -1
    while begin >= 0:
        end = begin + len(name)
        if not (text[begin - 1 : begin].isalnum() or text[end : end + 1].isalnum()):
            yield begin, end
        begin = text.find(name, end)


def _plausible(one: Name, other: Name, birth: str | None) -> bool:
    """Whether a text that joins two names means these whole: no surname at birth, no half of "A and B", no
    common noun beside a name; a single word only where the passage is about it."""
    if one.key in _NO_NAMES or one.written.islower() != other.written.islower():
        return False
    if any(joint in one.key for joint in _JOINED) != any(joint in other.key for joint in _JOINED):
        return False
    few = [len(words(name.key)) < 2 for name in (one, other)]
    if birth:
        return not any(few)
    return not few[0] or one.title or any(one.roles) or other.title


def _opening(
    title: str, text: str, spans: Sequence[tuple[int, int, str]], by_key: Mapping[str, Name]
) -> Iterator[Statement]:
    """An article begins with the full name of what its title names: "Hans Robert Bryner (born 1911) was"."""
    key = normalise(title)
    if not spans or spans[0][0] > 5 or key not in by_key or spans[0][2] == key:
        return
    begin, end, full = spans[0]
    if not _IS.match(text, end) or len(words(bare(key))) < 2:
        return
    if bare(key) == full or middle_names(bare(key), full) or _within(bare(key), full, text[begin:end]):
        yield Statement(key, full, "opening", text[: end + 40])


def _within(short: str, long: str, written: str) -> bool:
    """Whether a full name holds all words of a title, and not as a part of another thing's: "the Fall of X",
    "X's Y"."""
    if not set(words(short)) <= set(words(long)) or re.search(r"['’]s\b", written):
        return False
    before = long.partition(short)[0].split() if short in long else []
    return not before or before[-1] not in ("of", "in", "on", "at", "for", "to", "and", "from", "by", "with")


def _of_roles(names: Sequence[Name], by_key: Mapping[str, Name]) -> Iterator[Statement]:
    """Names of which a role says that they are another's: alias, "of Josip Broz Tito"."""
    titles = [name.key for name in names if name.title]
    for name in names:
        for role, states in name.roles:
            if role.lower() not in _ALIAS_ROLES:
                continue
            for state in states:
                match = _OF.match(state)
                other = normalise(match[1] if match else state)
                if other not in by_key and len(titles) == 1 and _WHOLE.match(state):
                    other = titles[0] if set(words(titles[0])) & set(words(name.key)) else ""
                if other not in by_key or other == name.key:
                    continue
                if name.written.islower() == by_key[other].written.islower():
                    how = "abbreviation" if abbreviates(*sorted((name.key, other), key=len)) else "alias"
                    yield Statement(name.key, other, how, f"{role}: {state}")
