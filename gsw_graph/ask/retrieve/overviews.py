"""Recognise questions that want an overview: of documents, of a topic, or of changes between two times.

The rules are narrow: a question of a fact must not become an overview, which takes ten times the tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from gsw_graph.text.dates import find_dates
from gsw_graph.text.words import table, terms
from gsw_graph.values import single_spaced

_LONGEST = 300  # characters of a question
_RULES = table("overviews")


def _compiled(rule: str) -> re.Pattern[str]:
    """Return a rule with those that it names in capitals."""
    for part in ("these", "polite", "size", "all", "some"):
        rule = rule.replace(part.upper(), _RULES[part])
    return re.compile(rule, re.IGNORECASE)


_FORMS = list(map(_compiled, _RULES["forms"]))
_BETWEEN, _FACT = _compiled(_RULES["between"]), _compiled(_RULES["fact"])
_ALL, _KIND = _compiled(r"\b(?:ALL)\b"), _compiled(r"\b(?:ALL|SOME)\b")


class Time(NamedTuple):
    """Hold a time as written, with its first and last day in ISO form; empty for any time."""

    text: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class OverviewQuestion:
    """Hold the subject of an overview. topic: A topic, or words that name documents, such as "the click
    manual"; empty for all documents. times: The times that are compared, or any time."""

    topic: str = ""
    times: tuple[Time, ...] = (Time(),)

    @property
    def titles(self) -> list[frozenset[str]]:
        """Return the words, as stems, that titles of documents may have if it names documents: with the kind
        of document and without."""
        if not _KIND.search(self.topic):
            return []
        return [terms(kinds.sub(" ", self.topic)) for kinds in (_ALL, _KIND)]


def overview_question(question: str) -> OverviewQuestion | None:
    """Return the subject of an overview; None if the question asks for something else."""
    text = single_spaced(question).rstrip(" ?.!…")
    if len(text) > _LONGEST:
        return None
    for form in _FORMS:
        match = form.fullmatch(text)
        if match is None:
            continue
        parts = match.groupdict()
        topic = parts["topic"] or ""
        times = _times(parts["times"]) if "times" in parts else (Time(),)
        if _FACT.search(topic) or not times:
            return None
        if not terms(_ALL.sub(" ", topic)):
            topic = ""
        return OverviewQuestion(topic, times)
    return None


def _times(written: str) -> tuple[Time, ...]:
    """Return the two times of a comparison, the second with the time between; none if the text has others, or
    says more."""
    times = []
    for date in find_dates(written):
        if date.days is not None:
            times.append(Time(date.text, *date.days))
            written = written.replace(date.text, " ", 1)
    times.sort(key=lambda time: time.since)
    if len(times) != 2 or not _BETWEEN.fullmatch(written):
        return ()
    first, second = times
    return first, second._replace(since=f"{first.until}~")  # what is later than that day
