"""What two names have in common as names: the same letters, a middle name more, a title or a legal form
more; and what tells them apart whatever else speaks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+[+#]*")
_FOLDED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "'": "", "’": ""}
)
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
_COUNTRIES = {"us": "united states", "usa": "united states", "uk": "united kingdom"}
_CAPITALS = re.compile(r"(?:[Tt]he )?U\.?\s?[SK]\b")
_TITLES = frozenset(
    "president sir dame dr doctor mr lord lady prince princess king queen pope emperor senator governor "
    "general colonel captain major lieutenant admiral professor prof rev reverend chancellor bishop "
    "archbishop cardinal sultan tsar congressman".split()
)
_LEGAL = frozenset(
    "inc incorporated corp corporation co company ltd limited plc llc llp gmbh ag spa nv bv oyj srl pty pvt "
    "kg sarl".split()
)
_GENERATIONS = {"jr": "j", "junior": "j", "sr": "s", "senior": "s", "elder": "s", "younger": "j"}
_SMALL = frozenset("of the and for in de la du des et on to a".split())
_LEAST = 3  # letters of a name that is compared by its letters alone
_SHORTEST = 5  # letters of a name that may be written as one word or two


@lru_cache(maxsize=65536)
def words(key: str) -> tuple[str, ...]:
    """The words of a normal form, with initials in a row as one and spellings of one word made one:
    "theatre" is "theater", "second" and a last "II" are "2", "St. Louis" is "saint louis"."""
    found: list[str] = []
    single = False
    for word in _WORD.findall(key.translate(_FOLDED).replace("&", " and ")):
        if single and len(word) == 1 and word.isalpha():
            found[-1] += word
        else:
            single = len(word) == 1 and word.isalpha()
            found.append(word)
    last = len(found) - 1
    return tuple(_word(word, n, last) for n, word in enumerate(found))


def _word(word: str, n: int, last: int) -> str:
    if word in _NUMBERS:
        return _NUMBERS[word]
    if match := _NTH.match(word):
        return match[1]
    if n == last and n and word in _ROMAN:
        return _ROMAN[word]
    if n < last and word in _SHORT:
        return _SHORT[word]
    if len(word) > 5:
        for pattern, to in _BRITISH:
            word = pattern.sub(to, word)
    return word


def letters(key: str) -> str:
    """A name without spaces, hyphens and other marks: equal for "J. R. R. Tolkien" and "JRR Tolkien"."""
    return "".join(words(key))


def same_letters(one: str, other: str, written: tuple[str, str] = ("", "")) -> bool:
    """Whether two names are equal but for such marks. A letter alone ("the letter S") is a word; initials
    are no word in small letters ("A.C.E.", "Ace"); of short names the words count too ("Li Na", "Lina"), and
    of a single word the spelling ("Centre")."""
    whole = letters(one)
    if whole != letters(other) or len(whole) < _LEAST:
        return False
    split = [_given(key) for key in (one, other)]
    initials = _in_a_row(split[0]) != _in_a_row(split[1])
    if len(split[0]) == len(split[1]) == 1 and split[0] != split[1]:
        return False
    if (
        len(whole) <= _SHORTEST
        and not initials
        and (len(split[0]) != len(split[1]) or ("'" in one) != ("'" in other))
    ):
        return False
    if any(c.isdigit() for c in one):
        return True
    if initials:
        runs = set(words(one)) ^ set(words(other)) or set(words(one))
        return all(any(run.upper() in _joined(name) for run in runs) for name in written if name)
    alone = [{word for word in words(key) if len(word) == 1} for key in (one, other)]
    return alone[0] == alone[1]


def _joined(written: str) -> str:
    """A name without dots and spaces; empty where it begins with a small letter."""
    return written.replace(".", "").replace(" ", "") if written[:1].isupper() else ""


def _in_a_row(parts: list[str]) -> bool:
    """Whether letters alone stand side by side."""
    return any(len(one) == len(other) == 1 for one, other in pairwise(parts))


def country(key: str, written: str) -> str:
    """A name with "U.S." or "UK" at its beginning written out, and the country by its short name; "us" in
    small letters is another word."""
    parts = words(key)
    if parts[:1] and parts[0] in _COUNTRIES and _CAPITALS.match(written):
        return " ".join((_COUNTRIES[parts[0]], *parts[1:]))
    return "united states" if key == "united states of america" else key


def numbers(key: str) -> tuple[str, ...]:
    """Digits, Roman numerals and ordinals of a name: two things whose names differ in these are two."""
    found = re.findall(r"\d+", " ".join(words(key)))
    return (*found, *(word for word in _WORD.findall(key)[1:-1] if word in _ROMAN and len(word) > 1))


def generation(key: str) -> str:
    """Whether a name says junior or senior."""
    return "".join(sorted({_GENERATIONS[word] for word in _WORD.findall(key) if word in _GENERATIONS}))


def bare(key: str) -> str:
    """A name without the remark at its end: "X (film)"."""
    return key.split(" (")[0]


def place(key: str) -> tuple[str, str]:
    """A name and what stands behind its comma, as in "St. Louis, Missouri"; empty where nothing does."""
    head, _, within = key.partition(", ")
    return head, within


def untitled(key: str) -> str:
    """A name of two words or more without the title before it."""
    parts = key.split(" ")
    while len(parts) > 2 and parts[0].strip(".") in _TITLES:
        parts = parts[1:]
    return " ".join(parts)


def informal(key: str) -> str:
    """A name without the legal form at its end."""
    parts = key.split(" ")
    while len(parts) > 1 and parts[-1].replace(".", "") in _LEGAL:
        parts = parts[:-1]
    return " ".join(parts).rstrip(",")


def middle_names(one: str, other: str) -> bool:
    """Whether two names of persons are equal but for middle names that one leaves out or shortens."""
    first, second = sorted((_given(one), _given(other)), key=len)
    if len(first) < 2 or first == second or first[-1] != second[-1] or first[0] != second[0]:
        return False
    inner = iter(second[1:-1])
    return len(first[0]) > 1 and all(any(_fits(name, one) for one in inner) for name in first[1:-1])


def initials(one: str, other: str) -> bool:
    """Whether one name is the other with its given names as initials: "J. Smith" and "John Smith"."""
    first, second = _given(one), _given(other)
    return (
        len(first) == len(second) > 1
        and first[-1] == second[-1]
        and first != second
        and all(_fits(a, b) for a, b in zip(first[:-1], second[:-1], strict=True))
    )


def _given(key: str) -> list[str]:
    """The words of a person's name, each initial alone."""
    return _WORD.findall(key.translate(_FOLDED))


def _fits(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) == 1 and one[0] == other[0])


def abbreviates(short: str, long: str) -> bool:
    """Whether the letters of a short name begin the words of a long one, in order: "WHO" and "World Health
    Organization", "CARICOM" and "Caribbean Community"."""
    wanted, parts = "".join(_WORD.findall(short)), _WORD.findall(long)
    full = [part for part in parts if part not in _SMALL]
    if len(wanted) < 2 or len(full) < 2 or not wanted.isalpha() or short in parts:
        return False
    return wanted == "".join(part[0] for part in parts) or _begins(wanted, full)


def _begins(wanted: str, parts: list[str]) -> bool:
    """Whether beginnings of some words, up to four letters of each, are the wanted letters."""
    if not parts or not wanted:
        return not parts and not wanted
    most = min(4, len(wanted), len(parts[0]))
    return any(wanted[:n] == parts[0][:n] and _begins(wanted[n:], parts[1:]) for n in range(1, most + 1))


def keys(key: str, written: str) -> Iterator[str]:
    """Under what a name is compared with others; names without a common key meet by a statement alone."""
    for form in {key, bare(key), untitled(key), informal(key), country(key, written), place(key)[0]}:
        yield letters(form)
    if len(given := _given(key)) > 1:
        yield f"{given[0][0]} {given[-1]}"
