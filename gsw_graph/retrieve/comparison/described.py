"""Sides of a comparison that are descriptions, looked up: who "the builder of the Marrow Bridge" is."""

from __future__ import annotations

import re

from gsw_graph.retrieve.facts.lookup import Asked
from gsw_graph.retrieve.facts.values import placed_names

_THAT = re.compile(r"^(?:the|a|an) (?P<noun>[a-z]+(?: [a-z]+)?) (?:that|which|who) (?P<rest>.+)$")
_OF = re.compile(r"^(?:the|a|an) (?P<noun>[a-z]+) (?:of|at|in|to|for) (?P<rest>.+)$")
_AGENT = re.compile(
    r"(?:er|or|ist|ian|ect|man|woman|smith|wright|captain|head|wife|husband|mother|father|sister|brother|son|"
    r"daughter|king|queen|president|capital|birthplace)$"
)
# Things that end as people do.
_THINGS = frozenset(
    "tower water river letter chapter order quarter number corner harbor door floor motor mirror theater "
    "center paper power steamer computer cover border summer winter container plan".split()
)


def subject_of(side: str) -> str:
    """What a side is about: itself where it is a name, else the first name in it."""
    if not is_described(side):
        return side
    found = placed_names(f"x {side}")
    return found[0][1] if found else ""


def is_described(side: str) -> bool:
    """Whether a side describes something and does not name it: after its article it goes on in lower case."""
    return re.match(r"(?:(?:[Tt]he|[Aa]n?) )?[^\W\dA-ZÀ-Þ_]", side) is not None and bool(
        placed_names(f"x {side}")
    )


def asks_for(side: str) -> Asked | None:
    """The question that a described side answers; None where the side is a name, or a thing that has none
    of its own ("the palm house of the garden")."""
    if not is_described(side):
        return None
    about = subject_of(side)
    if match := _THAT.match(side):
        asking = "Who" if _is_person(match["noun"]) else f"Which {match['noun']}"
        return Asked(f"{asking} {match['rest']}?", about, "name")
    if (match := _OF.match(side)) and _is_person(match["noun"]):
        return Asked(f"Who was {side}?", about, "name")
    return None


def _is_person(noun: str) -> bool:
    return _AGENT.search(noun) is not None and noun not in _THINGS
