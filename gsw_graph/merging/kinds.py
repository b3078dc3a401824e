"""What kind of thing a name is, from the roles that it plays: a person is no place."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = {
    "person": (
        "person people politician athlete musician ruler player actor actress singer writer author "
        "king queen emperor president minister artist composer director character footballer "
        "cricketer officer member wife husband son daughter father mother brother sister child "
        "saint scientist poet painter bishop pope soldier general family name founder producer "
        "rapper journalist"
    ),
    "place": (
        "place location city town village river country state region mountain mountains building "
        "church road airport territory area district province county island lake sea ocean "
        "continent museum monument facility structure landform stadium station street highway park "
        "bridge municipality neighbourhood neighborhood empire kingdom capital castle harbour "
        "harbor port body diocese settlement campus"
    ),
    "organisation": (
        "organisation organization company band team group institution university school government "
        "party agency network airline club museum church court council department ministry "
        "publisher label college hospital army military force forces league union bank brand "
        "manufacturer dynasty broadcaster channel service association society newspaper station "
        "country state empire diocese facility building airport"
    ),
    "work": (
        "work film song album book novel play series episode show poem document magazine journal "
        "newspaper publication software program soundtrack single game opera painting treaty law "
        "agreement policy act constitution website brand franchise"
    ),
    "event": (
        "event war battle competition season tournament treaty election revolution festival "
        "ceremony match disaster operation race games championship conflict era period"
    ),
    "measure": (
        "date number measure duration quantity distance temperature amount percentage time age year "
        "month frequency money degree measurement season ordinal"
    ),
    "people": ("nationality ethnicity people religion ethnic demonym"),
    "language": ("language dialect word"),
    "thing": (
        "occupation title rank role genre type status concept field office position award sport "
        "instrument product animal device vehicle currency substance material profession degree"
    ),
}
_OF_WORD: dict[str, set[str]] = {}
for _kind, _some in _WORDS.items():
    for _word in _some.split():
        _OF_WORD.setdefault(_word, set()).add(_kind)


def kinds(roles: Iterable[str]) -> set[str]:
    """The kinds that some roles tell, empty where they tell none."""
    found: set[str] = set()
    for role in roles:
        for word in reversed(re.findall(r"[a-z]+", role.lower())):
            if word in _OF_WORD:
                found |= _OF_WORD[word]
                break
    return found
