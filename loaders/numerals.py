"""The numbers of lists as word processors and browsers write them: 1, a, iv, 2nd."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

_MOST_ROMAN = 4000
_ROMAN = "1000 m 900 cm 500 d 400 cd 100 c 90 xc 50 l 40 xl 10 x 9 ix 5 v 4 iv 1 i".split()


def roman(number: int) -> str:
    """Return a number in small Roman numerals; one that they do not have as digits."""
    if not 0 < number < _MOST_ROMAN:
        return str(number)
    written = ""
    for value, numeral in zip(_ROMAN[::2], _ROMAN[1::2], strict=True):
        times, number = divmod(number, int(value))
        written += numeral * times
    return written


def letters(number: int) -> str:
    """Return a number as letters: a ... z, aa, bb."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ... 11th."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    is_teen = number // 10 % 10 == 1
    ending = "th" if is_teen else endings.get(number % 10, "th")
    return f"{number}{ending}"


def _large_roman(number: int) -> str:
    return roman(number).upper()


def _large_letters(number: int) -> str:
    return letters(number).upper()


Numerals: TypeAlias = dict[str | None, Callable[[int], str]]
WORD: Numerals = {
    "decimalZero": "{:02}".format,
    "lowerLetter": letters,
    "upperLetter": _large_letters,
    "lowerRoman": roman,
    "upperRoman": _large_roman,
    "ordinal": ordinal,
    "none": "".format,
}
"""Formats of numbers in Word; all others are written as digits."""

POINT: Numerals = {
    "alphaLc": letters,
    "alphaUc": _large_letters,
    "romanLc": roman,
    "romanUc": _large_roman,
}
"""Beginnings of the formats of numbers in PowerPoint; all others are written as digits."""

PAGE: Numerals = {
    "a": letters,
    "A": _large_letters,
    "i": roman,
    "I": _large_roman,
}
"""Types of lists in HTML; all others are written as digits."""
