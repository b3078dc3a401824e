"""Corpus records `{"title", "text", "id"?, "source"?}`: a JSON array, or JSON Lines. A record is a document of one passage."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gsw_graph.loaders.files import MAX_LINE, File, Item, line_too_long, lines, storable
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.loaders.text import not_utf8
from gsw_graph.model import Document, Failure, Passage, content_id

SHAPES = 'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON array'


def read_lines(file: File) -> Iterator[Item]:
    """One record a line, read one at a time; a bad line is a failure and the next is read."""
    blank = True
    for place, line in lines(file):
        if line is None:
            blank = False
            yield line_too_long(place)
        elif line.strip():
            blank = False
            try:
                record = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield Failure(place, not_utf8(error))
            except json.JSONDecodeError as error:
                yield Failure(place, f"broken JSON: {error.msg} at column {error.pos + 1}")
            except (ValueError, RecursionError) as error:
                yield Failure(place, f"broken JSON: {error}")
            else:
                yield _item(record, place)
    if blank:
        yield Failure(file.name, "empty")


def read_array(file: File) -> Iterator[Item]:
    """The records of one JSON array, or one record alone. The format allows no less than the whole file in memory."""
    try:
        data = json.loads(file.stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield Failure(file.name, f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}")
        return
    except json.JSONDecodeError as error:
        yield Failure(f"{file.name}:{error.lineno}:{error.colno}", f"broken JSON: {error.msg} at line {error.lineno} column {error.colno}")
        return
    except (ValueError, RecursionError) as error:
        yield Failure(file.name, f"broken JSON: {error}")
        return
    records = data if isinstance(data, list) else [data]
    if not records:
        yield Failure(file.name, "empty")
    elif not any(isinstance(record, dict) and "text" in record for record in records):
        yield Failure(file.name, f"JSON of an unknown shape: {SHAPES}")
    else:
        for n, record in enumerate(records, 1):
            yield _item(record, f"{file.name}: record {n}")


def _item(record: object, place: str) -> Item:
    """The document of one record, or what is wrong with it."""
    if not isinstance(record, dict):
        return Failure(place, f"not a record: {SHAPES}")
    try:
        sound = _sound(record)
    except RecursionError:
        return Failure(place, "nested too deeply")
    if not sound:
        return Failure(place, r"a NUL (\u0000) or half a surrogate pair (\ud800 to \udfff), which no database holds")
    text, title = record.get("text"), record.get("title")
    title = "" if title is None else title
    if not isinstance(text, str):
        return Failure(place, f"{'no `text`' if text is None else '`text` is not a string'}: {SHAPES}")
    if not text.strip():
        return Failure(place, "empty: `text` is only white space")
    if not isinstance(title, str):
        return Failure(place, "`title` is not a string")
    if len(text) + len(title) > MAX_LINE:
        return Failure(place, f"a record of more than {MAX_LINE // 2**20} MiB")
    name, source = record.get("id"), record.get("source")
    if not isinstance(name, str | int | None) or isinstance(name, bool):
        return Failure(place, "`id` is neither a string nor a whole number")
    if not isinstance(source, str | None):
        return Failure(place, "`source` is not a string")
    key = "" if name is None else str(name)
    # Without a name of its own a record is named by what it says: the same in whatever file, order or half it comes.
    source = "#".join(part for part in (source, key) if part) or f"{title}#{content_id(title, text)[:12]}"
    texts = [text] if words(text) <= SENTENCE_LIMIT else split(paragraphs(text))
    return place, Document(source, title, tuple(Passage(part, title, n) for n, part in enumerate(texts)), "corpus")


def _sound(value: object) -> bool:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return all(_sound(part) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(map(_sound, value))
