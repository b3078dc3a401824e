"""Scripts without capitals, as those of Chinese, Korean, Arabic and Hindi: what stands for a word in them,
and how names are seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gsw_graph.text.words import MARKS, WORD, fold

_READ = 4000  # characters of a text that tell its script
_UNCASED_SHARE = 1 / 3  # of its letters; a Latin word has more of them than a Chinese one
_HAN = "\u3005\u3400-\u9fff\uf900-\ufaff"
_UNSPACED = rf"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u309f\uac00-\ud7af{_HAN}"
_KATAKANA = r"[ァ-ヺー]{2,}(?:[・＝·=][ァ-ヺー]+)*"
_JOINED = r"(?<!\w)(?:[وفبلك](?=[ء-ي]{3})|[ובלכמשה](?=[א-ת]{3}))"  # and, in, to ... written before a word
_SIGN = re.compile(rf"[ァ-ヺー]+|[{_UNSPACED}][{MARKS}]*|{_JOINED}|[^\W_{_UNSPACED}ァ-ヺー]+[{MARKS}]*")
_SIGNS = re.compile(rf"[{_UNSPACED}]|{_JOINED}")
_UNCASED = re.compile(
    r"[^\W\d_A-Za-z\u00c0-\u058f\u10a0-\u10ff\u1d00-\u1fff\u2c00-\u2dff\ua640-\ua7ff\uff21-\uff5a]+"
)
_MARKED = re.compile(
    r"[《〈「『【]([^《》〈〉「」『』【】，。！？\n]{2,40})[》〉」』】]"
    r"|[“«„\"]([^“”«»„\"،,，。！？؟।.!?\n]{2,40})[”»“\"]"
    rf"|({_KATAKANA})"
)


def is_uncased(text: str) -> bool:
    """Tell whether a text is in a script without capitals."""
    if text.isascii():
        return False
    letters = [letter for letter in text[:_READ] if letter.isalpha()]
    return sum(letter.lower() == letter.upper() for letter in letters) > _UNCASED_SHARE * len(letters)


def without_uncased(text: str) -> str:
    """Return a text with a comma for each run of letters without capitals, which leaves its Latin, say."""
    return _UNCASED.sub(",", text)


def split(text: str) -> list[re.Match[str]]:
    """Split a text into its words, and a word of a script without spaces into its signs, of which a run of
    katakana is one; و, say, is cut from the word it is written before."""
    return [
        sign
        for word in WORD.finditer(text)
        for sign in (
            _SIGN.finditer(text, *word.span())
            if len(word[0]) > 1 and _SIGNS.search(text, *word.span())
            else [word]
        )
    ]


def is_part(sign: re.Match[str]) -> bool:
    """Tell a single sign that is a part of a word from a word."""
    return sign.re is _SIGN and len(sign[0]) == 1


def marked_names(text: str) -> Iterator[str]:
    """Find what stands in quotes, and runs of katakana, which write foreign names and things."""
    return (next(filter(None, match.groups())) for match in _MARKED.finditer(text))


def known_names(text: str, keys: Iterable[str]) -> set[str]:
    """Return those of some normal forms of names that stand in a text without capitals, but for parts of
    others."""
    folded = " ".join(fold(text).split())
    names = {key for key in keys if len(key) > 1 and key in folded and _stands(key, folded)}
    return {key for key in names if not any(key in name for name in names - {key})}


def _stands(key: str, text: str) -> bool:
    """Tell whether a name is a word of a text, where its script has words."""
    return bool(
        re.search(rf"[{_UNSPACED}ァ-ヺ]", key)
        or re.search(rf"(?<!\w)(?:{_JOINED})?{re.escape(key)}(?![\w{MARKS}])", text)
    )
