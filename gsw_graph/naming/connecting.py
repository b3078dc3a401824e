"""Which names tell things apart. Two texts that say "1911", "twenty-eight years" or "the opera" need have
nothing to do with each other, and a picture that joins them there leads astray."""

from __future__ import annotations

import re

from gsw_graph.naming.dates import find_dates
from gsw_graph.naming.numbers import find_numbers

# Alone, or beside a date or a number, these name nothing, however they are written.
_COMMON = frozenset(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday in on at by from since until before after about no number "
    "chapter part volume page act scene section century centuries decade decades year years month months "
    "week weeks day days hour hours dollar dollars pound pounds euro euros mile miles".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(the|an?)\s+", re.IGNORECASE)


def connects(name: str) -> bool:
    """Whether a name may join what it stands in: not one of dates, numbers and common words alone. A common
    word is written small; scripts without small letters have none."""
    rest = _ARTICLE.sub("", name.strip())
    places = [(one.begin, one.end) for one in find_dates(rest)]
    places += [(one.begin, one.end) for one in find_numbers(rest)]
    for begin, end in places:
        rest = rest[:begin] + " " * (end - begin) + rest[end:]
    return any(
        not word.islower() and word.lower() not in _COMMON for word in _WORD.findall(_ORDINAL.sub(" ", rest))
    )
