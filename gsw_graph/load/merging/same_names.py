"""What tells that two names are the same: what a text states of them, and their spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gsw_graph.text.names import normalise


@dataclass(frozen=True, slots=True)
class Name:
    """Hold a name as a passage has it: the id of its concept, as written, whether it is the title, and the
    states of its roles."""

    key: str
    written: str
    title: bool
    roles: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold that a text calls two concepts the same.

    Attributes:
        how: `abbreviation` or `alias`.
        words: the text that says so.
    """

    first: str
    second: str
    how: str
    words: str


# What texts state of names

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


def find_statements(text: str, names: Sequence[Name]) -> Iterator[Statement]:
    """Find what a passage says of its names: that one is short for another, or another name of it."""
    by_key = {name.key: name for name in names}
    yield from _stated_by_roles(names, by_key)
    spans = list(_spans(text, names))
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
                alias = _ALIAS.match(between) if whole else None
                how = "alias" if alias and _plausible(by_key[key], by_key[other], alias["birth"]) else ""
            if how:
                yield Statement(key, other, how, text[begin : other_end + 1])


def _spans(text: str, names: Sequence[Name]) -> Iterator[tuple[int, int, str]]:
    """Find where names stand in a text, in order: the longest that begin at a place, none within another."""
    longest: dict[int, tuple[int, str]] = {}
    for name in names:
        for begin, end in name_places(text, name.written):
            if end > longest.get(begin, (0, ""))[0]:
                longest[begin] = end, name.key
    last = 0
    for begin in sorted(longest):
        end, key = longest[begin]
        if begin >= last:
            yield begin, end, key
            last = end


def name_places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Find where a name stands in a text as whole words."""
    begin = text.find(name) if name else -1
    while begin >= 0:
        end = begin + len(name)
        if not (text[begin - 1 : begin].isalnum() or text[end : end + 1].isalnum()):
            yield begin, end
        begin = text.find(name, end)


def _plausible(first: Name, second: Name, birth: str | None) -> bool:
    """Tell whether a text that joins two names means these whole: no surname at birth, no half of "A and B",
    no common noun beside a name; a single word only where the passage is about it."""
    if first.key in _NO_NAMES or first.written.islower() != second.written.islower():
        return False
    if any(joint in first.key for joint in _JOINED) != any(joint in second.key for joint in _JOINED):
        return False
    few = [len(words(name.key)) < 2 for name in (first, second)]
    if birth:
        return not any(few)
    return not few[0] or first.title or any(first.roles) or second.title


def _stated_by_roles(names: Sequence[Name], by_key: Mapping[str, Name]) -> Iterator[Statement]:
    """Find names of which a role says that they are another's: alias, "of Josip Broz Tito"."""
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


# Spellings

_MARK = str.maketrans("", "", "'’")
_WORD = re.compile(r"[^\W_]+[+#]*")
_BRITISH = (
    (re.compile(r"is(ation|ations|ed|ing|e|es)$"), r"iz\1"),
    (re.compile(r"^(col|hon|lab|harb|neighb|fav|arm|behavi|hum|flav|vap)our"), r"\1or"),
    (re.compile(r"^(cent|theat)re(s?)$"), r"\1er\2"),
    (re.compile(r"^(def|off)ence"), r"\1ense"),
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_NUMBERS = {word: str(n) for n, word in enumerate(_ORDINALS, 1)}
_ROMAN = {
    roman: str(n)
    for n, roman in enumerate(
        "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(), 1
    )
}
_NTH = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_SHORT = {"st": "saint", "ste": "saint", "mt": "mount", "ft": "fort"}
_GENERATIONS = {"jr": "j", "junior": "j", "sr": "s", "senior": "s", "elder": "s", "younger": "j"}
_SMALL = frozenset("of the and for in de la du des et on to a".split())
_LEAST = 3  # letters of a name that is compared by its letters alone
_SHORTEST = 5  # letters of a name that may be written as one word or two


@lru_cache(maxsize=65536)
def words(key: str) -> tuple[str, ...]:
    """Split a normal form into words, with initials in a row as one and spellings of one word made one:
    "theatre" is "theater", "second" and a last "II" are "2", "St. Louis" is "saint louis"."""
    found: list[str] = []
    single = False
    for word in _WORD.findall(key.translate(_MARK).replace("&", " and ")):
        if single and len(word) == 1 and word.isalpha():
            found[-1] += word
        else:
            single = len(word) == 1 and word.isalpha()
            found.append(word)
    last = len(found) - 1
    return tuple(_word(word, n, last) for n, word in enumerate(found))


def _word(word: str, n: int, last: int) -> str:
    word = _NTH.sub(r"\1", _NUMBERS.get(word, word))
    word = _SHORT.get(word, word) if n < last else _ROMAN.get(word, word) if n else word
    for pattern, to in _BRITISH if len(word) > 5 else ():
        word = pattern.sub(to, word)
    return word


def letters(key: str) -> str:
    """Return a name without spaces and marks: equal for "J. R. R. Tolkien" and "JRR Tolkien"."""
    return "".join(words(key))


def same_letters(one: str, other: str, written: tuple[str, str] = ("", "")) -> bool:
    """Tell whether two names are equal but for spaces and marks.

    A letter alone ("the letter S") is a word; initials are no word in small letters ("A.C.E.", "Ace"); of
    short names the words count too ("Li Na", "Lina"), and of a single word the spelling ("Centre").
    """
    whole = letters(one)
    if whole != letters(other) or len(whole) < _LEAST:
        return False
    split = [_WORD.findall(key.translate(_MARK)) for key in (one, other)]
    initials = _has_initials(split[0]) != _has_initials(split[1])
    if len(split[0]) == len(split[1]) == 1 and split[0] != split[1]:
        return False
    differs = len(split[0]) != len(split[1]) or ("'" in one) != ("'" in other)
    if len(whole) <= _SHORTEST and not initials and differs:
        return False
    if any(c.isdigit() for c in one):
        return True
    if initials:
        runs = set(words(one)) ^ set(words(other)) or set(words(one))
        together = [
            "".join(name.split()).replace(".", "") if name[:1].isupper() else "" for name in written if name
        ]
        return all(any(run.upper() in name for run in runs) for name in together)
    alone = [{word for word in words(key) if len(word) == 1} for key in (one, other)]
    return alone[0] == alone[1]


def _has_initials(parts: list[str]) -> bool:
    """Tell whether letters alone stand side by side."""
    return any(len(one) == len(other) == 1 for one, other in pairwise(parts))


def numbers(key: str) -> tuple[str, ...]:
    """Return digits, Roman numerals and ordinals of a name: things whose names differ in these are two."""
    found = re.findall(r"\d+", " ".join(words(key)))
    return (*found, *(word for word in _WORD.findall(key)[1:-1] if word in _ROMAN and len(word) > 1))


def generation(key: str) -> str:
    """Return whether a name says junior or senior."""
    return "".join(sorted({_GENERATIONS[word] for word in _WORD.findall(key) if word in _GENERATIONS}))


def without_remark(key: str) -> str:
    """Return a name without the remark at its end: "X (film)"."""
    return key.split(" (")[0]


def abbreviates(short: str, long: str) -> bool:
    """Tell whether the letters of a short name begin the words of a long one, in order: "WHO" and "World
    Health Organization", "CARICOM" and "Caribbean Community"."""
    wanted, parts = "".join(_WORD.findall(short)), _WORD.findall(long)
    full = [part for part in parts if part not in _SMALL]
    if len(wanted) < 2 or len(full) < 2 or not wanted.isalpha() or short in parts:
        return False
    return wanted == "".join(part[0] for part in parts) or _begins(wanted, full)


def _begins(wanted: str, parts: list[str]) -> bool:
    """Tell whether beginnings of some words, up to four letters of each, are the wanted letters."""
    if not parts or not wanted:
        return not parts and not wanted
    most = min(4, len(wanted), len(parts[0]))
    return any(wanted[:n] == parts[0][:n] and _begins(wanted[n:], parts[1:]) for n in range(1, most + 1))
