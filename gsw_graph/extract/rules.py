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

Mention = tuple[FoundName, int]  # a name, and the position of its passage


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
        places, titles = tuple(sorted(self.passages)), tuple(self.titles)
        if self.days is None:
            return Entity(self.name, key, places, titles, opens=self.starter)
        return Entity(self.name, key, places, titles, (("date", ()),), *self.days, opens=self.starter)


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
    lower: set[str] = set()  # words that the document writes small
    mentions: list[Mention] = []
    for passage in document.passages:
        position = passage.position
        text = _without_dates(passage, index)
        mentions += ((name, position) for name in find_names(text, document.language))
        lower.update(filter(str.islower, WORD.findall(text)))
        if document.titled:
            for title in title_names(passage.title):
                index.add(title, position, title=True)
                index.add(without_article(title, document.language), position, title=True)
        for heading in passage.section.split(" > ")[1:]:
            if is_uncased(heading):
                mentions.append((FoundName(heading), position))
    for name in recurring_names("\n".join(passage.text for passage in document.passages)):
        for passage in document.passages:
            if name in passage.text:
                mentions.append((FoundName(name), passage.position))
    _add_names(index, mentions)
    entities = []
    for key, entry in sorted(index.entries.items()):
        if not entry.starter or key not in lower:
            entities.append(entry.entity(key))
    return Workspace(document, "rules", tuple(entities))


def extract_sentences(document: Document) -> Workspace:
    """Make the workspace of a document with a proposition for each sentence that names two or more of its
    entities: what PropRAG and GRASP can walk over without a model that writes propositions.

    The title of a passage counts as named in each of its sentences, which speak of it by a pronoun.
    """
    workspace = extract(document)
    names = {entity.key: entity.name for entity in workspace.entities}
    words = words_of(names)
    facts = []
    for passage in document.passages:
        title = normalise(passage.title) if document.titled else ""
        always = [title] if title in names else []
        for sentence in sentences(passage.text, language=document.language.code):
            keys = dict.fromkeys([*always, *named(sentence, names, words)])
            if len(keys) > 1:
                mentions = tuple((names[key], None) for key in keys)
                facts.append(Proposition(sentence, passage.position, mentions))
    return replace(workspace, extractor="sentences", propositions=tuple(facts))


def _without_dates(passage: Passage, index: _Index) -> str:
    """Add the dates of a passage, and return its normalised text without them."""
    text = passage.text
    title, rest = f"{passage.title}\n", text.removeprefix(f"{passage.title}\n")
    if passage.title and rest != text:  # a heading goes on in no next line
        text = f"{title}\n{rest}"
    text = normalise_text(text)
    pieces: list[str] = []
    end = 0
    for date in find_dates(text):
        pieces += [text[end : date.begin], ";".ljust(date.end - date.begin)]
        end = date.end
        if date.days and (entry := index.add(date.text, passage.position)):
            entry.days = date.days
    return "".join([*pieces, text[end:]])


def _add_names(index: _Index, mentions: list[Mention]) -> None:
    """Add the names of a document. The whole of it tells whether a function word that opens a sentence is a
    first name, and which words of a text in capitals are names."""
    certain = set(index.entries)
    for name, _ in mentions:
        if not (name.lead or name.capitals or name.starter or name.noun):
            certain.add(normalise(name.text))
    single = certain | {key.rpartition(" ")[2] for key in certain}
    only_capitals = all(name.capitals for name, _ in mentions)
    for name, position in mentions:
        whole = f"{name.lead} {name.text}"
        key = normalise(name.text)
        if name.lead and normalise(whole) in certain:
            index.add(whole, position)
        elif name.noun and key not in single:
            continue
        elif not name.capitals:
            index.add(name.text, position, starter=name.starter)
        elif only_capitals:
            if name.capitals == 2:
                index.add(name.text, position)
        elif name.capitals == 1 and key in certain:
            index.add(name.text, position)
