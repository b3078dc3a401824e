"""The sides of a question that compares several names, by the rules of English questions.

The sides stand around `or`, around `and` before what they share, or around `than`, `before` and `as`.
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


@dataclass(frozen=True, slots=True)
class Sides:
    """Hold the sides as the question writes them, and for each the question about that side alone."""

    names: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Say whether each side is a name: after its article it goes on with a capital or a digit."""
        return not any(_ARTICLE.sub("", name)[:1].islower() for name in self.names)


def sides_of(question: str) -> Sides | None:
    """Read the sides of a comparison.

    Returns:
        The sides, or None where the question compares nothing or its sides cannot be told.
    """
    text = " ".join(question.split()).rstrip("? ")
    if not _COMPARES.search(text):
        return None
    for parse in (_around_or, _around_than, _around_and):
        found = parse(text)
        if found is not None and _sound(found[1]):
            frame, names = found
            return Sides(names, tuple(f"{' '.join(frame.format(side=name).split())}?" for name in names))
    return None


Parsed = tuple[str, tuple[str, ...]]  # the question with {side} in the place of the sides; these


def _around_or(text: str) -> Parsed | None:
    """Read `..., A or B`, `between A and B`, `Was A or B born first`."""
    left, joined, right = text.rpartition(" or ")
    if not joined:
        head, between, rest = text.partition("etween ")
        first, joined, second = rest.partition(" and ")
        if not between or not joined:
            return None
        second, comma, tail = second.partition(",")
        return _framed(f"{_escaped(head[:-1])} {{side}} {_escaped(tail) if comma else ''}", [first, second])
    right = right.removeprefix("the one of ")
    if _ASKS.match(left):
        mark = re.search(r"[,:]\s", left)
        if mark is not None:
            return _framed(
                f"{_escaped(left[: mark.start()])}: {{side}}",
                [*re.split(r",\s", left[mark.end() :].rstrip(" ,")), right],
                most=4,
            )
        found = _last_name(left)  # "Who is older Ann Bell or Joe Reed"
        return None if found is None else _framed(f"{_escaped(left[:found])} {{side}}", [left[found:], right])
    auxiliary = _AUXILIARY.match(left)
    end = _end_of_names(right)
    if auxiliary is None or not end:
        return None
    return _framed(
        f"{_escaped(auxiliary[0])} {{side}} {_escaped(right[end:])}", [left[auxiliary.end() :], right[:end]]
    )


def _around_than(text: str) -> Parsed | None:
    """Read `Was A finished earlier than B`, `Did A die before B`, `Does A have the same nationality as B`."""
    auxiliary = _AUXILIARY.match(text)
    marks = list(_TO_SECOND.finditer(text))
    if auxiliary is None or _ASKS.match(text) or not marks or _around_and(text) is not None:
        return None
    mark = marks[-1]
    if mark[0].strip() in ("as", "with", "from") and not _SAME_AS.search(text):
        return None
    before, second = text[auxiliary.end() : mark.start()], text[mark.end() :]
    end = _end_of_names(before)
    if not end or not _CAPITAL.search(second):
        return None
    return _framed(f"{_escaped(auxiliary[0])} {{side}} {_escaped(before[end:])}", [before[:end], second])


def _around_and(text: str) -> Parsed | None:
    """Read `Are (both) A and B from the same country`, `Do A and B share ...`."""
    auxiliary = _AUXILIARY.match(text)
    if auxiliary is None:
        both = re.match(r"^(?P<a>[^,?]*?) and (?P<b>[^,?]*?),? (?:are|were|is|have) ", text)
        return (
            None
            if both is None
            else _framed(f"{{side}} is {_escaped(text[both.end() :])}", [both["a"], both["b"]])
        )
    rest = re.sub(r"^\s+both\b(?: (?:the )?[a-z]+,)?", "", text[auxiliary.end() :])
    predicate = _predicate(rest)
    subject, tail = (rest[:predicate], rest[predicate:]) if predicate else (rest, "")
    first, joined, second = _split_and(subject)
    if not joined:
        return None
    if not predicate:
        end = _end_of_names(second)
        second, tail = second[:end], second[end:]
    return _framed(f"{_escaped(auxiliary[0])} {{side}} {_escaped(tail)}", [first, second])


def _predicate(rest: str) -> int:
    """Return where what both share begins: the first predicate after the `and` behind which a name stands."""
    joined = rest.find(" and ")
    if joined < 0:
        return 0
    for match in _PREDICATE.finditer(rest, joined + 5):
        if _CAPITAL.search(rest, joined + 5, match.start()) and not _CAPITAL.match(
            rest[match.end() :].lstrip()
        ):
            return match.start()
    return 0


def _split_and(subject: str) -> tuple[str, str, str]:
    """Split around the `and` that has a name on both sides and parts them most evenly."""
    places = [
        match
        for match in re.finditer(r",? and ", subject)
        if _CAPITAL.search(subject[: match.start()]) and _CAPITAL.search(subject[match.end() :])
    ]
    if not places:
        return subject, "", ""
    best = min(places, key=lambda match: abs(match.start() - (len(subject) - match.end())))
    return subject[: best.start()], best[0], subject[best.end() :]


def _end_of_names(text: str) -> int:
    """Return where the last name of a text ends; 0 without any."""
    return max((match.end() for match in _CAPITAL.finditer(text)), default=0)


def _last_name(text: str) -> int | None:
    """Return where the run of names that ends a text begins."""
    match = re.search(r"(?:(?:[A-ZÀ-Þ][\w'’.-]*|of|the|de|van|von|\d+)\s+)*[A-ZÀ-Þ][\w'’.-]*$", text.rstrip())
    return match.start() if match is not None and match.start() else None


def _framed(frame: str, names: list[str], *, most: int = 2) -> Parsed:
    kept = [name.strip(_EDGE) for name in names]
    kept = [re.sub(r"^(?:and|or|both|either)\s+", "", name) for name in kept if name]
    if len(kept) > most:  # commas within names: what stands before the last of them is one
        kept = [", ".join(kept[:-1]), kept[-1]]
    return frame, tuple(kept)


def _escaped(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")


def _sound(names: tuple[str, ...]) -> bool:
    return (
        len(names) >= 2
        and len({name.casefold() for name in names}) == len(names)
        and all(_CAPITAL.search(name) for name in names)
    )
