"""What a passage states of names: that one is short for another, or another name of it; and what the first
words of an article say of its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gsw_graph.merging.spellings import abbreviates, bare, middle_names, words
from gsw_graph.names import normalise

# Between two names: the second is another name of the first.
_ALIAS = re.compile(
    r"^,?\s*\(?\s*(?:(?:who|which|that)\s+(?:is|was)\s+|(?:is|was)\s+)?"
    r"(?:(?:also|better|commonly|formerly|originally|previously|professionally|officially|popularly|simply|more|sometimes|often)\s+){0,2}"
    r"(?:known|called|named|abbreviated|referred\s+to|styled|stylized|stylised|spelled|written|credited)"
    r"(?:\s+(?:as|to\s+as|simply\s+as|in\s+English\s+as))?\s+(?:the\s+)?[\"“'‘]?$"
    r"|^,?\s*\(?\s*(?:a\.?k\.?a\.?|officially|née|nee|born|abbreviated|short\s+for|i\.e\.)\s*:?\s+(?:the\s+)?[\"“'‘]?$",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^\s*[\"”']?\s*\(\s*(?:the\s+|or\s+|also\s+)?[\"“'‘]?$", re.IGNORECASE)
_CLOSING = re.compile(r"^[\"”'’]?\s*[),;]")
_IS = re.compile(r"[\"”']?\s*(?:,[^.(]{1,60},?\s*)?(?:\((?:[^()]|\([^()]*\))*\)\s*,?\s*)?(?:[^.()]{1,80},\s*)?(?:is|was|are|were)\b")
_ALIAS_ROLES = frozenset(["alias", "abbreviation", "acronym", "nickname"])
_OF = re.compile(
    r"^(?:(?:an?|the|its|their|his|her|another|other|full|short|shortened|former|old|official|original|common|alternative|alternate|"
    r"english|native|local|nick|birth|stage|pen|abbreviated|legal|real|formal|popular)\s*)*"
    r"(?:name|title|abbreviation|acronym|alias|form|initials|spelling|nickname|term|designation)?\s*(?:of|for)\s+(.+)$",
    re.IGNORECASE,
)


_WHOLE = re.compile(r"^(?:full|birth|real|complete|legal|official) name$", re.IGNORECASE)


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
    """That one concept is another. how: `abbreviation`, `alias` or `opening`."""

    short: str
    long: str
    how: str
    words: str


def statements(title: str, text: str, names: Sequence[Name]) -> Iterator[Statement]:
    """What a passage says of its names."""
    by_key = {name.key: name for name in names}
    yield from _of_roles(names, by_key)
    if not text:
        return
    spans = sorted(_spans(text, names))
    yield from _opening(title, text, spans, by_key)
    for n, (begin, end, key) in enumerate(spans):
        for other_begin, other_end, other in spans[n + 1 : n + 6]:
            if other_begin < end:
                continue
            between = text[end:other_begin]
            if len(between) > 60:
                break
            if key == other:
                continue
            quoted = text[begin:min(other_end + 1, len(text))]
            if _OPENING.match(between) and _CLOSING.match(text[other_end:]):
                short, long = sorted((key, other), key=len)
                if abbreviates(short, long):
                    yield Statement(short, long, "abbreviation", quoted)
            elif _ALIAS.match(between) and _of_a_kind(by_key[key], by_key[other]):
                yield Statement(other, key, "alias", quoted)


def _spans(text: str, names: Sequence[Name]) -> Iterator[tuple[int, int, str]]:
    """Where names stand in a text, the longest of those that begin at a place."""
    found: dict[int, tuple[int, str]] = {}
    for name in names:
        for match in re.finditer(rf"(?<!\w){re.escape(name.written)}(?!\w)", text):
            if match.end() > found.get(match.start(), (0, ""))[0]:
                found[match.start()] = match.end(), name.key
    last = 0
    for begin in sorted(found):
        end, key = found[begin]
        if begin >= last:
            yield begin, end, key
            last = end


def _opening(title: str, text: str, spans: Sequence[tuple[int, int, str]], by_key: dict[str, Name]) -> Iterator[Statement]:
    """An article begins with the full name of what its title names: "Hans Robert Bryner (born 1911) was"."""
    if not spans or spans[0][0] > 5 or (key := normalise(title)) not in by_key or (full := spans[0][2]) == key:
        return
    if not _IS.match(text, spans[0][1]) or len(words(bare(key))) < 2:
        return
    if bare(key) == full or middle_names(bare(key), full) or set(words(bare(key))) <= set(words(full)):
        yield Statement(key, full, "opening", text[: spans[0][1] + 40])


def _of_a_kind(one: Name, other: Name) -> bool:
    """Whether both are names, or neither: "a garden, called the Jardín". A surname is not another name of
    its bearer alone."""
    return one.written.islower() == other.written.islower() and not (
        "person" in {role for role, _ in one.roles} and len(words(other.key)) == 1
    )


def _of_roles(names: Sequence[Name], by_key: dict[str, Name]) -> Iterator[Statement]:
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
                if other in by_key and other != name.key and name.written.islower() == by_key[other].written.islower():
                    how = "abbreviation" if abbreviates(*sorted((name.key, other), key=len)) else "alias"
                    yield Statement(name.key, other, how, f"{role}: {state}")
