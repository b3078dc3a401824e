"""The sides of a question that compares several names, by the rules of English questions.

The sides are around `or`, around `and` before what they share, or around `than`, `before` and `as`.
PathwiseRAG trains a classifier for the breakpoints of a question (equation 6), whose data are not public.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from gsw_graph.values import single_spaced

_COMPARES = re.compile(
    r"\b(?:same|both|first|last|earlie[rs]t?|later|latest|sooner|older|oldest|young(?:er|est)|more|most|less|fewer|least|fewest"
    r"|long(?:er|est)|short(?:er|est)|larg(?:er|est)|small(?:er|est)|bigger|biggest|tall(?:er|est)|high(?:er|est)|lower|lowest"
    r"|heavi(?:er|est)|light(?:er|est)|fast(?:er|est)|better|best|worse|closer|closest|near(?:er|est)|before|after|than|recently|share|either"
    r"|alike|different|differ|compared?|similar|common)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\s*(?:in |of |from |on |at )?(?:which|who|whose|what|where|when|how|between)\b", re.IGNORECASE
)
_AUXILIARY = re.compile(
    r"^\s*(?:(?:(?:in|of|from|on|at) )?(?:what|which|who|where)\b(?: [a-z]+){0,3}? )?"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r",?\s+(?:(?:all|both|each|also|ever|of|from|in|on|at|by|for|a|an) |(?:"
    r"share|shared|have|has|had|located|born|founded|built|opened|made|"
    r"released|known|the same|used|considered|based|die|died|live|lived|come|came|belong|belongs|"
    r"work|worked|play|played|direct|type|types|"
    r"the both|what|which|who)\b)"
)
_TO_SECOND = re.compile(r"\s(?:than|before|after|as|with|from)\s(?!the same\b)")
_SAME_AS = re.compile(r"\bsame\b.*\sas\s", re.IGNORECASE)
_CAPITAL = re.compile(r"\b[^\W\d_]*[A-ZÀ-ÞŁŻ][\w'’.&/-]*|\b\d+\b")
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_EDGE = ' ,;:?.!"“”'
_JOINED = re.compile(r"^(?:and|or|both|either)\s+")
# A comma or colon, else the names before `or`: "Who is older Ann Bell or Joe Reed".
_SIDES_BEGIN = re.compile(
    r"[,:]\s|\s(?=(?:(?:[A-ZÀ-Þ][\w'’.-]*|of|the|de|van|von|\d+)\s+)*[A-ZÀ-Þ][\w'’.-]*$)"
)
_MOST = 4  # sides; more are one name with commas in it, and another


@dataclass(frozen=True, slots=True)
class Sides:
    """Hold the sides as the question writes them, and for each the question about that side alone."""

    names: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Tell whether each side is a name: after its article it goes on with a capital or a digit."""
        names = [_ARTICLE.sub("", name) for name in self.names]
        return not any(name[:1].islower() for name in names)


def sides_of(question: str) -> Sides | None:
    """Read the sides of a comparison.

    Returns:
        The sides, or None if the question compares nothing or its sides are not clear.
    """
    text = single_spaced(question).rstrip("? ")
    if _COMPARES.search(text):
        for parse in (_around_or, _around_than, _around_and):
            parsed = parse(text)
            sides = about_each(*parsed) if parsed else None
            if sides:
                return sides
    return None


def about_each(head: str, texts: list[str], tail: str) -> Sides | None:
    """Return a question about each side; None for fewer than two sides, or sides that are no names."""
    stripped = [text.strip(_EDGE) for text in texts]
    names = [_JOINED.sub("", text) for text in stripped if text]
    if len(names) > _MOST:
        *first, last = names
        names = [", ".join(first), last]
    different = set(map(str.casefold, names))
    if len(different) < max(len(names), 2):
        return None
    if not all(map(_CAPITAL.search, names)):
        return None
    questions = []
    for name in names:
        text = f"{head} {name} {tail}"
        questions.append(single_spaced(text) + "?")
    return Sides(tuple(names), tuple(questions))


Parsed: TypeAlias = "tuple[str, list[str], str] | None"  # text before the sides, the sides, text after them


def _around_or(text: str) -> Parsed:
    """Read `..., A or B`, `between A and B`, `Was A or B born first`."""
    left, joined, right = text.rpartition(" or ")
    if not joined:
        between = re.match(r"(.*?)\b[Bb]etween (.+?) and ([^,]+)(.*)", text)
        if between is None:
            return None
        head, first, second, tail = between.groups()
        return head, [first, second], tail
    if _ASKS.match(left):
        mark = _SIDES_BEGIN.search(left)
        if mark is None:
            return None
        head = left[: mark.start()]
        sides = re.split(r",\s", left[mark.end() :].rstrip(" ,"))
        sides.append(right.removeprefix("the one of "))
        return f"{head}:", sides, ""
    auxiliary, end = _AUXILIARY.match(left), _end_of_names(right)
    if auxiliary is None or not end:
        return None
    first = left[auxiliary.end() :]
    return auxiliary[0], [first, right[:end]], right[end:]


def _around_than(text: str) -> Parsed:
    """Read `Was A finished earlier than B`, `Did A die before B`, `Does A have the same nationality as B`."""
    auxiliary = _AUXILIARY.match(text)
    marks = list(_TO_SECOND.finditer(text))
    if auxiliary is None or not marks or _ASKS.match(text) or _around_and(text):
        return None
    mark = marks[-1]
    if mark[0].strip() in ("as", "with", "from") and not _SAME_AS.search(text):
        return None
    before = text[auxiliary.end() : mark.start()]
    second = text[mark.end() :]
    end = _end_of_names(before)
    if not end or not _CAPITAL.search(second):
        return None
    return auxiliary[0], [before[:end], second], before[end:]


def _around_and(text: str) -> Parsed:
    """Read `Are (both) A and B from the same country`, `Do A and B share ...`."""
    auxiliary = _AUXILIARY.match(text)
    if auxiliary is None:
        both = re.match(r"^([^,?]*?) and ([^,?]*?),? (?:are|were|is|have) ", text)
        if both is None:
            return None
        tail = text[both.end() :]
        return "", list(both.groups()), f"is {tail}"
    rest = text[auxiliary.end() :]
    rest = re.sub(r"^\s+both\b(?: (?:the )?[a-z]+,)?", "", rest)
    predicate = _predicate(rest)
    subject = rest[:predicate] if predicate else rest
    splits = []
    for joint in re.finditer(r",? and ", subject):
        start, end = joint.span()
        if _CAPITAL.search(subject[:start]) and _CAPITAL.search(subject[end:]):
            uneven = abs(start + end - len(subject))
            splits.append((uneven, start, end))
    if not splits:
        return None
    _, start, end = min(splits)  # the `and` that parts the names most evenly
    last = predicate or end + _end_of_names(subject[end:])
    return auxiliary[0], [rest[:start], rest[end:last]], rest[last:]


def _predicate(rest: str) -> int:
    """Return the beginning of the shared text: the first predicate after the `and` behind which a name is; 0
    without any."""
    joined = rest.find(" and ") + len(" and ")
    for match in _PREDICATE.finditer(rest, joined):
        follows = _CAPITAL.match(rest[match.end() :].lstrip())
        if _CAPITAL.search(rest, joined, match.start()) and not follows:
            return match.start()
    return 0


def _end_of_names(text: str) -> int:
    """Return the end of the last name of a text; 0 without any."""
    return max((match.end() for match in _CAPITAL.finditer(text)), default=0)
