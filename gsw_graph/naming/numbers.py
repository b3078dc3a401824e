"""Numbers in running text, in digits and in English words, with the word that follows them: "2,914 pipes",
"almost two tons", "thirty-one"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ONES = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen".split(),
        range(20),
        strict=True,
    )
)
_TENS = {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join((*_ONES, *_TENS, *_SCALES))
_NUMBER = re.compile(
    r"(?<![\w.,])(?:(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,9})?)"
    rf"(?:\ (?P<scale>{'|'.join(_SCALES)}))?"
    rf"|(?P<words>(?:{_WORD})(?:(?:-|\ and\ |\ )(?:{_WORD})){{0,8}}))(?!\w)(?:\ (?P<unit>[^\W\d_]+))?",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A number as written, its place in the text, its value and the word after it in lower case ("" where
    none follows)."""

    begin: int
    end: int
    text: str
    value: float
    unit: str


def find_numbers(text: str) -> Iterator[Number]:
    """The numbers of a text in their order; years and days are numbers too."""
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            value = float(match["digits"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1)
            end = match.end("scale") if match["scale"] else match.end("digits")
        else:
            value, end = _value(match["words"]), match.end("words")
        yield Number(match.start(), end, text[match.start() : end], value, (match["unit"] or "").lower())


def _value(words: str) -> float:
    """Three hundred and forty-two is 3 times 100 and 40 and 2."""
    whole = part = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            whole, part = whole + max(part, 1) * _SCALES[word], 0
        elif word != "and":
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return float(whole + part)
