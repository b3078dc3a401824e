"""The sides of a question that compares, what of them is compared, and how: read by rules.

"Which is older, X or Y?", "Were both X and Y born in Z?", "Did X die before Y?". English; the rules are ours,
as PathwiseRAG (section 3.2) names a comparative matrix and tells nothing of how a question becomes one. A
side may be a name or a description ("the builder of the Marrow Bridge"), which is looked up first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gsw_graph.retrieve.facts.values import Edge, Kind, placed_names

Rule = Literal["first", "last", "more", "less", "same", "is"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of the matrix. name: as it is shown. asks: a question with {} for the side. kind and edge: of
    its values; place: they are places. lasts: how long the range is, not when. calendar: of dates, what
    must be the same, "year" in "the same year"; "" for the dates themselves."""

    name: str
    asks: str
    kind: Kind
    edge: Edge = "whole"
    place: bool = False
    lasts: bool = False
    calendar: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared. rule: which side is asked for, or whether both have the "same" value, or whether the
    value of both "is" `value`. yes_no: the answer is yes or no; of first, last, more and less: whether the
    first side is it."""

    sides: tuple[str, ...]
    attribute: Attribute
    rule: Rule
    yes_no: bool = False
    value: str | None = None


_EITHER = re.compile(r"^(?P<head>.+?)[,:;–-]\s+(?P<a>[^,]+?),?\s+or\s+(?P<b>[^,]+?)\s*\?*$", re.IGNORECASE)
_EITHER_BARE = re.compile(
    r"^(?P<head>(?:who|which|what)\b.+?)\s+(?P<a>(?:the )?[A-ZÀ-Þ][^,]*?)\s+or\s+(?P<b>[^,]+?)\s*\?*$"
)
_ASKS = re.compile(r"^(?:did|do|does|was|were|is|are|has|have|had)\s+", re.IGNORECASE)
_THAN = re.compile(
    r"\s+(?P<word>before|after|earlier than|later than|sooner than|older than|younger than|longer than|"
    r"(?:more|fewer|less|larger|greater|bigger|smaller|taller|higher|heavier|lighter|shorter|deeper)\b"
    r"[^?]*? than)\s+",
    re.IGNORECASE,
)
_SAME = re.compile(r"\bthe same (?P<what>[a-z]+)\b", re.IGNORECASE)
_PLACES = "town|city|village|place|country|county|island|region|street|state|hamlet|province"
_BORN_IN = re.compile(
    r"^(?P<verb>[a-z]+(?: [a-z]+)?)\s+(?:in|at|on|by|from|to)\s+(?P<value>(?:the )?[A-ZÀ-Þ].+?)\s*\?*$"
)
_LATE = re.compile(
    r"\b(?:last|later|latest|after|younger|youngest|newer|newest|more recent(?:ly)?|most recent(?:ly)?)\b"
)
_EARLY = re.compile(r"\b(?:first|earlier|earliest|before|sooner|older|oldest|elder)\b")
_LESS = re.compile(
    r"\b(?:less|fewer|fewest|least|smaller|smallest|shorter|shortest|lighter|lightest|lower|lowest|cheaper)\b"
)
_MORE = re.compile(
    r"\b(?:more|most|larger|largest|greater|greatest|bigger|biggest|taller|tallest|higher|highest|heavier|"
    r"heaviest|longer|longest|deeper|deepest|wider|widest|costlier|dearer)\b"
)
_ENDS = re.compile(
    r"\b(?:died?|dies|death|closed?|ended?|finished|completed|dissolved|abolished|sank|sunk|lost|broken up|"
    r"stopped)\b"
)
_LASTS = re.compile(
    r"\b(?:lived?|lasted?|reigned|ruled|served|existed)\b[^?]*\b(?:longer|longest|shorter|shortest)\b"
)
_ADJECTIVES = (
    (re.compile(r"\b(?:heavier|heaviest|lighter|lightest)\b"), "weight", "How many tons does {} weigh?"),
    (re.compile(r"\b(?:taller|tallest|higher|highest)\b"), "height", "How many metres high is {}?"),
    (re.compile(r"\b(?:longer|longest|shorter|shortest)\b"), "length", "How many metres long is {}?"),
    (re.compile(r"\b(?:deeper|deepest)\b"), "depth", "How many metres deep is {}?"),
    (re.compile(r"\b(?:wider|widest)\b"), "width", "How many metres wide is {}?"),
    (re.compile(r"\b(?:costlier|dearer|cheaper|cost (?:more|less))\b"), "cost", "What did {} cost?"),
)  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:more|most|fewer|fewest|less|(?:the )?(?:larger|largest|greater|greatest|bigger|biggest|smaller|"
    r"smallest|higher|highest)(?: number of)?)\s+(?P<noun>[a-z]+)\b"
)
_VERB = re.compile(
    r"\b(?:was|were|been|is|are|did|be)?\s*(?P<verb>[a-z]+(?: up)?)\s+(?:first|last|earlier|earliest|later|"
    r"latest|before|after|sooner|most recently|more recently)\b"
)
_NOT = re.compile(r"\b(?:not|never|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_AGE = re.compile(r"^who\b.*\b(?:older|oldest)\b|\b(?:elder|eldest|younger|youngest)\b")
_LONGEST = 1000  # characters of a question that the rules read
_HELPERS = frozenset(
    "who which what was were is are did do does the of two these them both came come it been".split()
)


def read(question: str) -> Comparison | None:
    """What a question compares; None where the rules see no comparison of two sides."""
    text = " ".join(question.split())
    if len(text) > _LONGEST or _NOT.search(text):
        return None
    if _ASKS.match(text):
        return _between(text) or _both(text)
    match = _EITHER.match(text) or _EITHER_BARE.match(text)
    if match is None or _lists(match["head"]) or re.search(r"\bor\b", match["b"]):  # three sides
        return None
    head = match["head"].strip().lower()
    found = _attribute(head)
    if found is None:
        return None
    attribute, rule = found
    return Comparison((_bare(match["a"]), _bare(match["b"])), attribute, rule)


def _between(text: str) -> Comparison | None:
    """Did A die before B? Was A finished earlier than B? Is A older than B?"""
    rest = _ASKS.sub("", text, count=1).rstrip("? ")
    match = _THAN.search(rest)
    if match is None:
        return None
    left, right = rest[: match.start()], rest[match.end() :]
    side, predicate = _cut(left)
    if not side or not placed_names(f"x {right}"):
        return None
    word = match["word"].lower()
    found = _attribute(f"{predicate} {word.removesuffix(' than')}".strip().lower())
    if found is None or found[0].name == "began":  # of a person it is the birth, of a yard the founding
        return None
    return Comparison((_bare(side), _bare(_cut(right)[0] or right)), *found, yes_no=True)


def _both(text: str) -> Comparison | None:
    """Were A and B born in the same town? Were both A and B born in Z?"""
    rest = re.sub(r"^both\s+", "", _ASKS.sub("", text, count=1).rstrip("? "), flags=re.IGNORECASE)
    for match in re.finditer(r"\s+and\s+", rest):
        first, (second, predicate) = rest[: match.start()], _cut(rest[match.end() :])
        if not second or not predicate or not placed_names(f"x {first}") or _lists(first):
            continue
        if same := _SAME.search(predicate):
            return Comparison((_bare(first), _bare(second)), _same(predicate, same), "same", yes_no=True)
        if value := _BORN_IN.match(predicate):
            place = re.search(r"\b(?:in|at|on|to|from)\b", predicate) is not None
            asks = f"{'Where' if place else 'Who'} was {{}} {value['verb']}?"
            attribute = Attribute(value["verb"], asks, "name", place=place)
            return Comparison(
                (_bare(first), _bare(second)), attribute, "is", yes_no=True, value=_bare(value["value"])
            )
    return None


def _same(predicate: str, same: re.Match[str]) -> Attribute:
    what, verb = same["what"].lower(), predicate[: same.start()].split()
    verb = [word for word in verb if word not in ("in", "at", "by", "have", "has", "on", "from", "to")]
    if what in ("year", "month", "day", "decade"):
        asks = f"When was {{}} {' '.join(verb)}?"
        return Attribute(f"{' '.join(verb)} in", asks, "date", _edge(predicate), calendar=what)
    if re.fullmatch(_PLACES, what):
        said = " ".join(verb) or "located"
        return Attribute(f"{said} in", f"Where was {{}} {said}?", "name", place=True)
    if verb:
        return Attribute(what, f"Which {what} {' '.join(verb)} {{}}?", "name")
    return Attribute(what, f"Who was the {what} of {{}}?", "name")


def _attribute(head: str) -> tuple[Attribute, Rule] | None:
    """What a head asks for, in lower case: "which was built first"."""
    less, late = bool(_LESS.search(head)), bool(_LATE.search(head))
    if _LASTS.search(head):
        asks = "When did {} live?" if "live" in head else "From when to when did {} last?"
        return Attribute("years", asks, "date", "life", lasts=True), "less" if less else "more"
    if _AGE.search(head):
        return Attribute("born", "When was {} born?", "date", "begin"), "last" if late else "first"
    if re.search(r"\b(?:older|oldest|newer|newest)\b", head):
        return Attribute(
            "began", "When was {} founded, built or born?", "date", "begin"
        ), "last" if late else "first"
    for pattern, name, asks in _ADJECTIVES:
        if pattern.search(head):
            return Attribute(name, asks, "number"), "less" if less else "more"
    if (match := _COUNTED.search(head)) and match["noun"] not in ("recently", "recent", "of"):
        return Attribute(
            match["noun"], f"How many {match['noun']} did {{}} have?", "number"
        ), "less" if less else "more"
    if _LATE.search(head) or _EARLY.search(head):
        verb = next((m["verb"] for m in _VERB.finditer(head) if m["verb"] not in _HELPERS), None)
        verb = verb or next(
            (
                word
                for word in reversed(head.split())
                if word not in _HELPERS and not _LATE.match(word) and not _EARLY.match(word)
            ),
            None,
        )
        if verb is None:
            return None
        asks = "When did {} die?" if verb in ("die", "died") else f"When was {{}} {verb}?"
        return Attribute(verb, asks, "date", _edge(verb)), "last" if late else "first"
    if less or _MORE.search(head):
        return Attribute("size", "How large is {}?", "number"), "less" if less else "more"
    return None


def _lists(text: str) -> bool:
    """Whether names follow a comma: what seems to be the question holds a side more."""
    return any(placed_names(f"x {part.strip()}") for part in text.split(",")[1:])


def _edge(verb: str) -> Edge:
    return (
        "end"
        if _ENDS.search(verb)
        else "begin"
        if re.search(r"\b(?:born|began|begun|started)\b", verb)
        else "whole"
    )


def _cut(text: str) -> tuple[str, str]:
    """What a text begins with up to the end of its first name, and what follows."""
    found = placed_names(f"x {text}")
    if not found:
        return "", ""
    begin, name = found[0]
    end = begin - 2 + len(name)
    return text[:end].strip(), text[end:].strip()


def _bare(side: str) -> str:
    return re.sub(r"^both\s+", "", side.strip(" ?.,;"), flags=re.IGNORECASE)
