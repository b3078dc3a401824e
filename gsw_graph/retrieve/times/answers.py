"""What a dated sentence answers: the name that a question asks for, read by rules.

"Who", "which lighthouse", "what". A sentence gives the name nearest to the words asked for, its own subject,
or the title of its passage; "the guild" is the last name in the passage that has the word. The rules are
ours; where none fits, there is no answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.names import normalise
from gsw_graph.retrieve.chains.pair_score import words_of
from gsw_graph.retrieve.facts.families import cues, stem, stems
from gsw_graph.retrieve.facts.sentences import without
from gsw_graph.retrieve.facts.values import BY, cue_places, name_in, placed_names

if TYPE_CHECKING:
    from gsw_graph.retrieve.facts.sentences import Line

_WHICH = re.compile(
    r"^\W*(?:in |on |at |for |to |by |of )?(?:which|what) "
    r"(?!(?:was|were|is|are|did|do|does|had|has)\b)(?P<noun>(?:[a-z]+ ){0,2}?[a-z]+)"
    r"(?= (?:was|were|is|are|did|do|does|had|has|[a-z]+ed|set|took|of|built|held|led|stood|ran|began|came|"
    r"went)\b)",
    re.IGNORECASE,
)
_WHO = re.compile(r"^\W*(?:by |to |for |from |with )?who(?:m|se)?\b", re.IGNORECASE)
_WHAT = re.compile(r"^\W*what\b", re.IGNORECASE)
_PASSIVE = re.compile(
    r"(?:^|[.;,] )(?P<np>(?:the|a|an|its|his|her|their) [a-z][\w'’ -]{1,40}?) "
    r"(?:was|were|had been) (?:\w+ ){0,2}$",
    re.IGNORECASE,
)
_GENERAL = frozenset("part thing event place year people person something".split())


def asked_noun(question: str) -> str | None:
    """The noun of "which lighthouse"; None where a question has none, or one that says nothing."""
    match = _WHICH.match(question)
    noun = match["noun"].lower().strip() if match else None
    return None if noun is None or noun in _GENERAL else noun


def answer_in(question: str, line: Line) -> str | None:
    """What a line answers to a question without its condition of time."""
    noun = asked_noun(question)
    if noun is not None:
        return _of_noun(noun, question, line)
    wanted = cues(without(question, ""))
    if _WHO.match(question):
        return _who(question, line, wanted)
    if _WHAT.match(question):
        return _what(question, line, wanted)
    return None


def _who(question: str, line: Line, wanted: tuple[frozenset[str], ...]) -> str | None:
    """A person that the line names and the question does not; else what the passage is about."""
    known = words_of(question)
    title = line.passage.title
    found = [(begin, name) for begin, name in placed_names(line.text) if not words_of(name) & known]
    by = [name for begin, name in found if BY.search(line.text[:begin])]
    if len(by) == 1 and cue_places(line.text, wanted):
        return by[0]
    if title and not words_of(title) & known and (line.number == 0 or not found):
        return called(title)
    places = cue_places(line.text, wanted)
    if found and places:
        near = name_in(line, "", wanted)
        if near is not None and any(name == near for _, name in found):
            return near
    two = [name for _, name in found if " " in name]
    return two[0] if len(two) == 1 else found[0][1] if len(found) == 1 else None


def _what(question: str, line: Line, wanted: tuple[frozenset[str], ...]) -> str | None:
    """What was done, as the line's subject of a passive; else its only name that the question has not."""
    known = words_of(question)
    for place in cue_places(line.text, wanted):
        if (match := _PASSIVE.search(line.text[:place])) and not words_of(match["np"]) & known:
            return match["np"]
    found = {name for _, name in placed_names(line.text) if not words_of(name) <= known}
    title = words_of(line.passage.title)
    found = {name for name in found if not words_of(name) <= title}
    return found.pop() if len(found) == 1 else None


def _of_noun(noun: str, question: str, line: Line) -> str | None:
    """A thing of a kind: a name with the noun in it, what "the noun" stands for, or what the passage is about
    where it is one."""
    known, head = words_of(question), normalise(noun).split()[-1]
    kind = stem(head)
    for _, name in placed_names(line.text):
        if kind in {word for word, _ in stems(name)} and not words_of(name) <= known:
            return name
    before = line.passage.text.partition(line.text[:40])[0] + line.text
    named = [name for _, name in placed_names(before) if kind in {word for word, _ in stems(name)}]
    if re.search(rf"\b(?:the|this|a) {re.escape(head)}\b", line.text, re.IGNORECASE) and named:
        return named[-1]
    title = line.passage.title
    opens = placed_names(line.text)
    if (
        opens
        and opens[0][0] <= len("The ")
        and words_of(opens[0][1]) - words_of(title)
        and not words_of(opens[0][1]) <= known
    ):
        return opens[0][1]
    if title and not words_of(title) <= known:
        return called(title)
    return None


def called(title: str) -> str:
    """A title without what tells it from others in brackets: "Charlotte Ames (lifeboat)"."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title) or title


def is_one(noun: str, line: Line) -> bool:
    """Whether the passage of a line speaks of a thing of a kind: in its title, the line, or how it begins."""
    kind = stem(normalise(noun).split()[-1])
    said = f"{line.passage.title} {line.text} {line.passage.text[:300]}"
    return kind in {word for word, _ in stems(said)}
