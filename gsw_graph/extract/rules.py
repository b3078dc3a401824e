"""Names, dates and titles by rule, with no model at all: what a memory of plain text is built from.

A document is read alone, never against a corpus, so that the graph does not depend on what was loaded
before or in which order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from gsw_graph.model.assemble import named, words_of
from gsw_graph.model.documents import Document, Entity, Passage, Proposition, Workspace
from gsw_graph.text.dates import find_dates
from gsw_graph.text.languages import without_article
from gsw_graph.text.names import FoundName, find_names, normalise, title_names
from gsw_graph.text.scripts import is_uncased, recurring_names
from gsw_graph.text.words import WORD, normalise_text, sentences


@dataclass(slots=True)
class _Entry:
    """Gather what a document says of one name."""

    spellings: Counter[str] = field(default_factory=Counter)
    passages: dict[int, None] = field(default_factory=dict)  # a dict keeps the order
    titles: dict[int, None] = field(default_factory=dict)
    starter: bool = True  # seen only as a single word that begins a sentence
    days: tuple[str, str] | None = None  # what a date covers

    @property
    def name(self) -> str:
        """Return the commonest spelling, of several the greatest: Beyoncé before BEYONCE."""
        return max(self.spellings, key=lambda spelling: (self.spellings[spelling], spelling))

    def entity(self, key: str) -> Entity:
        """Return the entity that the document has by this name."""
        first, last = self.days or (None, None)
        roles = (("date", ()),) if self.days else ()
        places, titles = tuple(sorted(self.passages)), tuple(self.titles)
        return Entity(self.name, key, places, titles, roles, first, last, opens=self.starter)


class _Index:
    """Gather the names of one document by their normal form."""

    def __init__(self) -> None:
        self.entries: dict[str, _Entry] = {}

    def add(self, name: str, position: int, *, starter: bool = False, title: bool = False) -> _Entry | None:
        if not (key := normalise(name)):
            return None
        entry = self.entries.setdefault(key, _Entry())
        entry.spellings[name] += 1
        entry.passages[position] = None
        entry.starter &= starter
        if title:
            entry.titles[position] = None
        return entry


def extract(document: Document) -> Workspace:
    """Make the workspace of a document: its names and dates, each an entity with the passages it occurs in,
    sorted by key."""
    index = _Index()
    lower: set[str] = set()
    mentions: list[tuple[FoundName, int]] = []
    language = document.language
    for passage in document.passages:
        text = _without_dates(passage, index)
        mentions += ((name, passage.position) for name in find_names(text, language))
        lower.update(word for word in WORD.findall(text) if word.islower())
        for title in title_names(passage.title) if document.titled else ():
            index.add(title, passage.position, title=True)
            index.add(without_article(title, language), passage.position, title=True)
        headings = filter(is_uncased, passage.section.split(" > ")[1:])
        mentions += ((FoundName(heading), passage.position) for heading in headings)
    for name in recurring_names("\n".join(passage.text for passage in document.passages)):
        places = (passage.position for passage in document.passages if name in passage.text)
        mentions += ((FoundName(name), position) for position in places)
    _add_names(index, mentions)
    entities = tuple(
        entry.entity(key)
        for key, entry in sorted(index.entries.items())
        if not (entry.starter and key in lower)
    )
    return Workspace(document, "rules", entities)


def extract_sentences(document: Document) -> Workspace:
    """Make the workspace of a document with a proposition for each sentence that names two or more of its
    entities: what PropRAG and GRASP can walk over without a model that writes propositions.

    The title of a passage counts as named in each of its sentences, which speak of it by a pronoun.
    """
    workspace = extract(document)
    names = {entity.key: entity.name for entity in workspace.entities}
    words = words_of(names)
    facts: list[Proposition] = []
    for passage in document.passages:
        title = normalise(passage.title) if document.titled else ""
        for sentence in sentences(passage.text, language=document.language.code):
            keys = dict.fromkeys([*([title] if title in names else []), *named(sentence, names, words)])
            if len(keys) > 1:
                mentions = tuple((names[key], None) for key in keys)
                facts.append(Proposition(sentence, passage.position, mentions))
    return replace(workspace, extractor="sentences", propositions=tuple(facts))


def _without_dates(passage: Passage, index: _Index) -> str:
    """Add the dates of a passage, and return its normalised text without them."""
    text = passage.text
    if passage.title and text.startswith(f"{passage.title}\n"):  # a heading goes on in no next line
        text = f"{passage.title}\n\n{text[len(passage.title) + 1 :]}"
    text = normalise_text(text)
    pieces: list[str] = []
    end = 0
    for date in find_dates(text):
        pieces += (text[end : date.begin], ";", " " * (date.end - date.begin - 1))
        end = date.end
        if date.days and (entry := index.add(date.text, passage.position)):
            entry.days = date.days
    return "".join([*pieces, text[end:]])


def _add_names(index: _Index, mentions: list[tuple[FoundName, int]]) -> None:
    """Add the names of a document. The whole of it tells whether a function word that opens a sentence is a
    first name, and which words of a text in capitals are names."""
    certain = {
        normalise(name.text)
        for name, _ in mentions
        if not (name.lead or name.capitals or name.starter or name.noun)
    }
    certain.update(index.entries)
    single = certain | {key.rpartition(" ")[2] for key in certain}
    only_capitals = all(name.capitals for name, _ in mentions)
    for name, position in mentions:
        if name.lead and normalise(whole := f"{name.lead} {name.text}") in certain:
            index.add(whole, position)
        elif name.noun and normalise(name.text) not in single:
            continue
        elif not name.capitals:
            index.add(name.text, position, starter=name.starter)
        elif (name.capitals == 2 and only_capitals) or (
            name.capitals == 1 and not only_capitals and normalise(name.text) in certain
        ):
            index.add(name.text, position)
