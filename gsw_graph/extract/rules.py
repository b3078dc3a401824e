"""Names, dates and titles by rule, with no model at all: what a memory of plain text is built from.

A document is read alone, never against a corpus, so that the graph does not depend on what was loaded
before or in which order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gsw_graph.model import Document, Entity, Workspace
from gsw_graph.names import WORD, normalise
from gsw_graph.naming.dates import find_dates
from gsw_graph.naming.finding import names, title_names


@dataclass(slots=True)
class _Found:
    """What a document says of one name."""

    name: str
    passages: dict[int, None] = field(default_factory=dict)  # a dict keeps the order
    titles: dict[int, None] = field(default_factory=dict)
    starter: bool = True  # seen only as a single word that begins a sentence
    days: tuple[str, str] | None = None  # what a date covers


def extract(document: Document) -> Workspace:
    """The workspace of a document: its names and dates, each an entity with the passages it stands in,
    sorted by key."""
    found: dict[str, _Found] = {}
    lower: set[str] = set()

    def add(name: str, position: int, *, starter: bool = False, title: bool = False) -> _Found | None:
        if not (key := normalise(name)):
            return None
        entry = found.setdefault(key, _Found(name))
        entry.passages[position] = None
        entry.starter &= starter
        if title:
            entry.titles[position] = None
        return entry

    for passage in document.passages:
        pieces: list[str] = []
        end = 0
        for date in find_dates(passage.text):
            pieces += (passage.text[end : date.begin], ";", " " * (date.end - date.begin - 1))
            end = date.end
            if date.days and (entry := add(date.text, passage.position)):
                entry.days = date.days
        text = "".join([*pieces, passage.text[end:]])
        for name, starter in names(text):
            add(name, passage.position, starter=starter)
        lower.update(word for word in WORD.findall(text) if word.islower())
        for name in title_names(passage.title) if document.titled else ():
            add(name, passage.position, title=True)
    entities = tuple(
        Entity(
            entry.name,
            key,
            tuple(entry.passages),
            tuple(entry.titles),
            (("date", ()),) if entry.days else (),
            *(entry.days or ()),
        )
        for key, entry in sorted(found.items())
        if not (entry.starter and key in lower)
    )
    return Workspace(document, "rules", entities)
