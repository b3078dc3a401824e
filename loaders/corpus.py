"""Corpus records `{"title", "text", "id"?, "source"?}`: a JSON array, or JSON Lines. A record is a document
of one passage.

Other formats make the documents of their passages here, so that a passage is the same document in whatever
format it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gsw_graph.loaders.files import MAX_LINE, Item, Record, storable
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.model import Document, Failure, Passage, content_id

SHAPES = (
    'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON '
    'array; the same with "entities", "verb_phrases" or '
    '"propositions"; Panini\'s workspaces ("entity_nodes"); OpenIE results and propositions ({"docs": [...]})'
)
_TITLE = 200  # characters; a longer first line is text


def is_record(value: Mapping[str, object]) -> bool:
    """Whether an object means to be a corpus record."""
    return "text" in value


def read(record: Record) -> Iterator[Item]:
    """The document of one record, or what is wrong with it."""
    found = document(record.value, record.place, "corpus")
    yield found if isinstance(found, Failure) else (record.place, found)


def document(value: Mapping[str, object], place: str, loader: str) -> Document | Failure:
    """The document of `title`, `text`, `id` and `source`, or what is wrong with it."""
    if reason := flaw(value):
        return Failure(place, reason)
    text, title = value.get("text"), value.get("title")
    title = "" if title is None else title
    if not isinstance(text, str):
        return Failure(place, f"{'no `text`' if text is None else '`text` is not a string'}: {SHAPES}")
    if not text.strip():
        return Failure(place, "empty: `text` is only white space")
    if not isinstance(title, str):
        return Failure(place, "`title` is not a string")
    if len(text) + len(title) > MAX_LINE:
        return Failure(place, f"a record of more than {MAX_LINE // 2**20} MiB")
    name, source = value.get("id"), value.get("source")
    if not isinstance(name, str | int | None) or isinstance(name, bool):
        return Failure(place, "`id` is neither a string nor a whole number")
    if not isinstance(source, str | None):
        return Failure(place, "`source` is not a string")
    key = "" if name is None else str(name)
    source = "#".join(part for part in (source, key) if part) or named(title, text)
    return Document(
        source, title, tuple(Passage(part, title, n) for n, part in enumerate(pieces(text))), loader
    )


def named(title: str, text: str) -> str:
    """The source of a record without a name of its own, by what it says: the same in whatever file, order
    or half it comes."""
    return f"{title}#{content_id(title, text)[:12]}"


def pieces(text: str) -> list[str]:
    """The passages of a record's text: one, if it is not very long."""
    return [text] if words(text) <= SENTENCE_LIMIT else split(paragraphs(text))


def titled(passage: str) -> tuple[str, str]:
    """Title and text of a passage that was written as title, newline, text."""
    title, _, text = passage.partition("\n")
    return (title, text) if len(title) < _TITLE and text.strip() else ("", passage)


def flaw(value: object) -> str | None:
    """Why no database holds what a record says, if that is so."""
    try:
        sound = _sound(value)
    except RecursionError:
        return "nested too deeply"
    return (
        None
        if sound
        else r"a NUL (\u0000) or half a surrogate pair (\ud800 to \udfff), which no database holds"
    )


def _sound(value: object) -> bool:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return all(_sound(part) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(map(_sound, value))
