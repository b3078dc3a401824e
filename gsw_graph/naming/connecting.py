"""Which names tell things apart. Two texts that say "1911", "twenty-eight years" or "the opera" need have
nothing to do with each other, and a picture that joins them there leads astray."""

from __future__ import annotations

import re

from gsw_graph.naming.dates import find_dates
from gsw_graph.naming.numbers import find_numbers

_ARTICLE = re.compile(r"^(the|an?)\s+", re.IGNORECASE)


def connects(name: str) -> bool:
    """Whether a name may join what it stands in: not one of dates, numbers and common words alone. A common
    word is written small; scripts without small letters have none."""
    rest = _ARTICLE.sub("", name.strip())
    places = [(one.begin, one.end) for one in find_dates(rest)]
    places += [(one.begin, one.end) for one in find_numbers(rest)]
    for begin, end in places:
        rest = rest[:begin] + " " * (end - begin) + rest[end:]
    return any(letter.isalpha() and not letter.islower() for letter in rest)
