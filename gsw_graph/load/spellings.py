"""Compare the spellings of names: words, letters, numbers, generations, abbreviations. English."""

from __future__ import annotations

import re
from functools import lru_cache

from gsw_graph.values import word_set

_MARK = str.maketrans("", "", "'’")
_WORD = re.compile(r"[^\W_]+[+#]*")
_INITIALS = re.compile(r"(?<!\S)([^\W\d_]) (?=[^\W\d_](?!\S))")
_BRITISH = (
    (re.compile(r"is(ation|ations|ed|ing|e|es)$"), r"iz\1"),
    (re.compile(r"^(col|hon|lab|harb|neighb|fav|arm|behavi|hum|flav|vap)our"), r"\1or"),
    (re.compile(r"^(cent|theat)re(s?)$"), r"\1er\2"),
    (re.compile(r"^(def|off)ence"), r"\1ense"),
)
_NUMBERS = {}  # of ordinals
for _number, _ordinal in enumerate(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
):
    _NUMBERS[_ordinal] = str(_number)
_ROMAN = {}
for _number, _numeral in enumerate(
    "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(), 1
):
    _ROMAN[_numeral] = str(_number)
_NTH = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_SHORT = {"st": "saint", "ste": "saint", "mt": "mount", "ft": "fort"}
_GENERATIONS = {"jr": "j", "junior": "j", "sr": "s", "senior": "s", "elder": "s", "younger": "j"}
_SMALL = word_set("of the and for in de la du des et on to a")
_LEAST = 3  # letters of a name that is compared by its letters alone
_SHORTEST = 5  # letters of a name that may be written as one word or two


@lru_cache(maxsize=65536)
def words(key: str) -> tuple[str, ...]:
    """Split a normal form into words, with initials in a row as one and spellings of one word made one:
    "theatre" is "theater", "second" and a last "II" are "2", "St. Louis" is "saint louis"."""
    parts = _INITIALS.sub(r"\1", _spaced(key.replace("&", " and "))).split()
    last = len(parts) - 1
    return tuple(_word(part, place, last) for place, part in enumerate(parts))


def _spaced(key: str) -> str:
    """Return the words of a name as they are, with a space between."""
    return " ".join(_WORD.findall(key.translate(_MARK)))


def _word(word: str, place: int, last: int) -> str:
    word = _NTH.sub(r"\1", _NUMBERS.get(word, word))
    if place < last:
        word = _SHORT.get(word, word)
    elif place:
        word = _ROMAN.get(word, word)
    if len(word) > 5:
        for pattern, to in _BRITISH:
            word = pattern.sub(to, word)
    return word


def letters(key: str) -> str:
    """Return a name without spaces and marks: equal for "J. R. R. Tolkien" and "JRR Tolkien"."""
    return "".join(words(key))


def same_letters(first: str, second: str, written: tuple[str, str] = ("", "")) -> bool:
    """Tell whether two names are equal but for spaces and marks.

    A letter alone ("the letter S") is a word; initials are no word in small letters ("A.C.E.", "Ace"); of
    short names the words count too ("Li Na", "Lina"), and of a single word the spelling ("Centre").
    """
    whole = letters(first)
    if whole != letters(second) or len(whole) < _LEAST:
        return False
    spaced, other_spaced = _spaced(first), _spaced(second)
    spaces = spaced.count(" ")
    is_split_alike = spaces == other_spaced.count(" ")
    if is_split_alike and not spaces and spaced != other_spaced:
        return False
    has_initials = bool(_INITIALS.search(spaced)) != bool(_INITIALS.search(other_spaced))
    is_marked_alike = ("'" in first) == ("'" in second)
    if len(whole) <= _SHORTEST and not has_initials and not (is_split_alike and is_marked_alike):
        return False
    if any(map(str.isdigit, first)):
        return True
    ours, theirs = set(words(first)), set(words(second))
    if has_initials:
        runs = [run.upper() for run in ours ^ theirs or ours]
        together = [re.sub(r"[\s.]", "", name) for name in written if name]
        return all(any(run in name for run in runs) for name in together)
    return not any(len(word) == 1 for word in ours ^ theirs)


def numbers(key: str) -> list[str]:
    """Return digits, Roman numerals and ordinals of a name: things whose names differ in these are two."""
    roman = [word for word in _WORD.findall(key)[1:-1] if word in _ROMAN and len(word) > 1]
    return re.findall(r"\d+", " ".join(words(key))) + roman


def generation(key: str) -> set[str]:
    """Return whether a name says junior (`j`) or senior (`s`)."""
    return {_GENERATIONS[word] for word in _WORD.findall(key) if word in _GENERATIONS}


def abbreviates(first: str, second: str) -> bool:
    """Tell whether the letters of the shorter name begin the words of the longer one, in order, up to four
    letters of each: "WHO" and "World Health Organization", "CARICOM" and "Caribbean Community"."""
    short, long = sorted((first, second), key=len)
    wanted, parts = "".join(_WORD.findall(short)), _WORD.findall(long)
    full = [part for part in parts if part not in _SMALL]
    if len(wanted) < 2 or len(full) < 2 or not wanted.isalpha() or short in parts:
        return False
    if wanted == "".join(part[0] for part in parts):
        return True
    ends = {0}  # of the letters that the words so far may have
    for part in full:
        beginnings = {part[:length] for length in range(1, 5)}
        ends = {end + len(text) for end in ends for text in beginnings if wanted.startswith(text, end)}
    return len(wanted) in ends
