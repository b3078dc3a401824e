"""The numbers of lists as word processors and browsers write them: 1, a, iv, 2nd."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_MOST_ROMAN = 4000
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}  # fmt: skip
_CHICAGO = "*†‡§"


def roman(number: int) -> str:
    """Return a number in small Roman numerals; one that they do not have as digits."""
    if not 0 < number < _MOST_ROMAN:
        return str(number)
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written


def repeated_letter(number: int) -> str:
    """Return a number as word processors letter it: a ... z, aa, bb."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def counted_letters(number: int) -> str:
    """Return a number as browsers letter it: a ... z, aa, ab."""
    if number < 1:
        return str(number)
    written = ""
    while number:
        number, letter = divmod(number - 1, 26)
        written = chr(ord("a") + letter) + written
    return written


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ... 11th."""
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def cardinal_text(number: int) -> str:
    """Return a number below a hundred in words, with a capital; another as digits."""
    if not 0 <= number < 100:
        return str(number)
    if number < 20:
        return _ONES[number].capitalize()
    tens = _TENS[number // 10 - 2]
    return (f"{tens}-{_ONES[number % 10]}" if number % 10 else tens).capitalize()


def ordinal_text(number: int) -> str:
    """Return First, Second ... Twenty-first; a number of a hundred or more as digits."""
    words = cardinal_text(number)
    if words.isdigit():
        return ordinal(number)
    before, dash, last = words.lower().rpartition("-")
    regular = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return f"{before}{dash}{_ORDINALS.get(last, regular)}".capitalize()


def _sign(number: int) -> str:
    return _CHICAGO[(number - 1) % 4] * ((number - 1) // 4 + 1)


WORD: Mapping[str, Callable[[int], str]] = {
    "decimalZero": "{:02}".format,
    "lowerLetter": repeated_letter,
    "upperLetter": lambda number: repeated_letter(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "ordinal": ordinal,
    "cardinalText": cardinal_text,
    "ordinalText": ordinal_text,
    "chicago": _sign,
    "hex": "{:X}".format,
    "numberInDash": "- {} -".format,
    "none": lambda _: "",
}
"""Formats of numbers in Word; all others are written as digits."""

POINT: Mapping[str, Callable[[int], str]] = {
    "alphaLc": repeated_letter,
    "alphaUc": lambda number: repeated_letter(number).upper(),
    "romanLc": roman,
    "romanUc": lambda number: roman(number).upper(),
}
"""Beginnings of the formats of numbers in PowerPoint; all others are written as digits."""

PAGE: Mapping[str, Callable[[int], str]] = {
    "a": counted_letters,
    "A": lambda number: counted_letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
}
"""Types of lists in HTML; all others are written as digits."""
