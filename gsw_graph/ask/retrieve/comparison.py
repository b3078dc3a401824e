"""The sides of a question that compares several names, by the rules of English questions.

The sides are around `or`, around `and` before what they share, or around `than`, `before` and `as`.
PathwiseRAG trains a classifier for the breakpoints of a question (equation 6), whose data are not public.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        return not any(_ARTICLE.sub("", name)[:1].islower() for name in self.names)


def sides_of(question: str) -> Sides | None:
    """Read the sides of a comparison.

    Returns:
        The sides, or None where the question compares nothing or its sides are not clear.
    """
    text = " ".join(question.split()).rstrip("? ")
    for parse in (_around_or, _around_than, _around_and) if _COMPARES.search(text) else ():
        if (parsed := parse(text)) and (sides := about_each(*parsed)):
            return sides
    return None


def about_each(head: str, texts: list[str], tail: str) -> Sides | None:
    """Make the question about each side; None where the sides are no names, or fewer than two."""
    names = [_JOINED.sub("", name) for text in texts if (name := text.strip(_EDGE))]
    if len(names) > _MOST:
        names = [", ".join(names[:-1]), names[-1]]
    if len({name.casefold() for name in names}) < max(len(names), 2) or not all(map(_CAPITAL.search, names)):
        return None
    return Sides(tuple(names), tuple(" ".join(f"{head} {name} {tail}".split()) + "?" for name in names))


Parsed = tuple[str, list[str], str]  # the text before the sides; these; the text after


def _around_or(text: str) -> Parsed | None:
    """Read `..., A or B`, `between A and B`, `Was A or B born first`."""
    left, joined, right = text.rpartition(" or ")
    if not joined:
        between = re.match(r"(.*?)\b[Bb]etween (.+?) and ([^,]+)(.*)", text)
        return (between[1], [between[2], between[3]], between[4]) if between else None
    if _ASKS.match(left):
        mark = _SIDES_BEGIN.search(left)
        if mark is None:
            return None
        sides = re.split(r",\s", left[mark.end() :].rstrip(" ,"))
        return f"{left[: mark.start()]}:", [*sides, right.removeprefix("the one of ")], ""
    auxiliary, end = _AUXILIARY.match(left), _end_of_names(right)
    if auxiliary is None or not end:
        return None
    return auxiliary[0], [left[auxiliary.end() :], right[:end]], right[end:]


def _around_than(text: str) -> Parsed | None:
    """Read `Was A finished earlier than B`, `Did A die before B`, `Does A have the same nationality as B`."""
    auxiliary, marks = _AUXILIARY.match(text), list(_TO_SECOND.finditer(text))
    if auxiliary is None or _ASKS.match(text) or not marks or _around_and(text) is not None:
        return None
    mark = marks[-1]
    before, second = text[auxiliary.end() : mark.start()], text[mark.end() :]
    end = _end_of_names(before)
    alike = mark[0].strip() in ("as", "with", "from") and not _SAME_AS.search(text)
    if alike or not end or not _CAPITAL.search(second):
        return None
    return auxiliary[0], [before[:end], second], before[end:]


def _around_and(text: str) -> Parsed | None:
    """Read `Are (both) A and B from the same country`, `Do A and B share ...`."""
    auxiliary = _AUXILIARY.match(text)
    if auxiliary is None:
        both = re.match(r"^([^,?]*?) and ([^,?]*?),? (?:are|were|is|have) ", text)
        return ("", [both[1], both[2]], f"is {text[both.end() :]}") if both else None
    rest = re.sub(r"^\s+both\b(?: (?:the )?[a-z]+,)?", "", text[auxiliary.end() :])
    predicate = _predicate(rest)
    subject = rest[:predicate] if predicate else rest
    starts = [
        match
        for match in re.finditer(r",? and ", subject)
        if _CAPITAL.search(subject[: match.start()]) and _CAPITAL.search(subject[match.end() :])
    ]
    if not starts:
        return None
    # Of several the one that parts the names most evenly.
    middle = min(starts, key=lambda match: abs(match.start() - (len(subject) - match.end())))
    end = predicate or middle.end() + _end_of_names(subject[middle.end() :])
    return auxiliary[0], [rest[: middle.start()], rest[middle.end() : end]], rest[end:]


def _predicate(rest: str) -> int:
    """Return where what both share begins: the first predicate after the `and` behind which a name is."""
    joined = rest.find(" and ") + len(" and ")
    ends = (
        match.start()
        for match in _PREDICATE.finditer(rest, joined)
        if _CAPITAL.search(rest, joined, match.start()) and not _CAPITAL.match(rest[match.end() :].lstrip())
    )
    return next(ends, 0)


def _end_of_names(text: str) -> int:
    """Return where the last name of a text ends; 0 without any."""
    return max((match.end() for match in _CAPITAL.finditer(text)), default=0)
