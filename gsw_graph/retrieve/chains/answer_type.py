"""What kind of thing a question asks for, and whether an answer is one: "when" wants a date, "how many" a
number, "who" a person, "where" a place."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DATE = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|month|day|century|decade)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\bhow (?:many|much|large|big|long|tall|high|old|far)\b|\bwhat (?:is the )?(?:number|population|percentage|amount)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\bwhere\b|\b(?:what|which) (?:city|country|nation|state|county|place|town|village|hamlet|municipality|borough|continent|region|province|district|island"
    r"|location)\b",
    re.IGNORECASE,
)
_ASKING = ((_DATE, "date"), (_NUMBER, "number"), (_PERSON, "person"), (_PLACE, "place"))
# Relations written "Subject >> relation", as knowledge bases and MuSiQue have them.
_RELATIONS = (
    (re.compile(r"\b(?:date|year|inception|time)\b"), "date"),
    (
        re.compile(r"\b(?:place|location|located|country|city|capital|headquarters|border|continent)\b"),
        "place",
    ),
    (
        re.compile(
            r"\b(?:director|author|performer|spouse|father|mother|child|sibling|composer|founder|producer|creator|editor"
            r"|screenwriter|singer|president|head of)\b"
        ),
        "person",
    ),
    (re.compile(r"\b(?:number|population)\b"), "number"),
)
_ROLES = {
    "date": {"date", "year", "time"},
    "number": {"number", "quantity", "amount"},
    "person": {"person", "people", "character"},
    "place": {
        "location",
        "place",
        "city",
        "country",
        "state",
        "county",
        "region",
        "town",
        "village",
        "hamlet",
        "municipality",
        "settlement",
    },
    "organisation": {"organisation", "organization", "group", "team", "company"},
}
_KIND_OF_ROLE = {role: kind for kind, roles in _ROLES.items() for role in roles}
_LOOKS_DATED = re.compile(
    r"\b(?:1\d{3}|20\d\d)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_DATE_LENGTH = 30  # a longer answer with a year in it is something else
_LOOKS_NUMERIC = re.compile(r"[$€£]? ?\d")


def wanted(question: str) -> str | None:
    """The kind a question asks for: date, number, person or place; None where it does not say."""
    _, sign, relation = question.partition(">>")
    if sign:
        return next((kind for pattern, kind in _RELATIONS if pattern.search(relation.lower())), None)
    found = [(match.start(), kind) for pattern, kind in _ASKING if (match := pattern.search(question))]
    return min(found)[1] if found else None  # the word that asks is the first: "Who was president when ..."


def kinds_asked(question: str) -> frozenset[str]:
    """Every kind that some part of a question asks for."""
    return frozenset(kind for pattern, kind in _ASKING if pattern.search(question))


def kinds(answers: Iterable[str], descriptions: Iterable[str]) -> set[str]:
    """The kinds of some answers, by the roles in the descriptions of their entities ("role: states; role")
    and by their form."""
    roles = {
        part.partition(":")[0].strip().casefold()
        for description in descriptions
        for part in description.split(";")
    }
    found = {_KIND_OF_ROLE[role] for role in roles if role in _KIND_OF_ROLE}
    for answer in answers:
        if len(answer) < _DATE_LENGTH and _LOOKS_DATED.search(answer):
            found.add("date")
        if _LOOKS_NUMERIC.match(answer):
            found.add("number")
    return found


def fit(kind: str | None, answer_kinds: set[str]) -> float:
    """1 where the answer is of the kind asked for, -1 where not, 0 where the question does not say; an
    organisation may be a "who"."""
    if kind is None:
        return 0.0
    if kind in answer_kinds:
        return 1.0
    return 0.3 if kind == "person" and "organisation" in answer_kinds else -1.0
