"""JSON files: an array, one object, or one record a line; what each record is, is seen by its keys.

`records` reads corpora, ready workspaces, OpenIE results and propositions, `panini` Panini's workspaces,
`conversations` chats, `markdown` notebooks.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from gsw_graph.loaders import chat_exports, conversations, markdown, panini
from gsw_graph.loaders.files import (
    File,
    Item,
    Items,
    NothingError,
    Record,
    UnusableError,
    detect_encoding,
    line_too_long,
    lines,
    refusal,
    transcode,
)
from gsw_graph.loaders.records import SHAPES, flaw, read_openie, read_record, read_workspace
from gsw_graph.loaders.text import decode_bytes
from gsw_graph.model.documents import Failure, Skipped

Reader: TypeAlias = Callable[[Record], Iterator[Item]]


def read_lines(file: File) -> Items:
    """Yield one record a line, read one at a time; a bad line is a failure and the next is read."""
    whole_lines = file.head[: file.head.rfind(b"\n") + 1]
    codec = detect_encoding(whole_lines or file.head)
    if codec and codec != "utf-8":
        file = transcode(file, codec)
    blank = True
    for number, (place, line) in enumerate(lines(file), 1):
        blank = blank and line is not None and not line.strip()
        if line is None:
            yield line_too_long(place).failure(place)
        elif line.strip():
            try:
                value = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield Failure(place, refusal(error))
            except json.JSONDecodeError as error:
                message = error.msg.removesuffix(" at")
                yield Failure(place, f"broken JSON: {message} at column {error.pos + 1}")
            except (ValueError, RecursionError) as error:
                yield Failure(place, f"broken JSON: {error}")
            else:
                yield from _object(value, place, file, str(number))
    if blank:
        raise NothingError("empty")


def read_whole(file: File) -> Items:
    """Yield the items of a JSON array or object. The format requires the whole file in memory."""
    data = file.stream.read().removeprefix(codecs.BOM_UTF8)
    text = decode_bytes(data, file.name)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\n" not in text[: error.pos].strip():
            # The first line was too long to see that it is one of many.
            yield from read_lines(replace(file, stream=io.BufferedReader(io.BytesIO(data))))
            return
        raise UnusableError(
            f"broken JSON: {error.msg} at line {error.lineno} column {error.colno}",
            f"{file.name}:{error.lineno}:{error.colno}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"broken JSON: {error}") from error
    if isinstance(value, dict) and "nbformat" in value and isinstance(value.get("cells"), list):
        if problem := flaw(value):
            raise UnusableError(problem)
        yield from markdown.read_notebook(value, file)
    elif isinstance(value, list) or _reader(value) is read_record:
        yield from _array(value if isinstance(value, list) else [value], file.name, file)
    else:
        yield from _object(value, file.name, file, "")


def _object(value: object, place: str, file: File, number: str) -> Items:
    reader = _reader(value)
    if not isinstance(value, dict):
        yield Failure(place, f"not a record: {SHAPES}")
    elif isinstance(docs := value.get("docs"), list) and "text" not in value:
        yield from _array(docs, place, file)  # OpenIE results, which keep their records under a key
    elif not number and not reader:
        yield Failure(place, f"JSON of an unknown shape: {SHAPES}")
    else:
        yield from (reader or read_record)(Record(value, place, file, number))


def _array(values: list[Any], place: str, file: File) -> Items:
    if chat_exports.is_slack(values):
        yield from conversations.read_slack(values, place, file)
        return
    readers = [_reader(value) for value in values]
    if not any(readers):
        if chat_exports.is_slack_list(file):
            yield Skipped(place, "a list of a Slack export; its names are read with the messages")
        elif values:
            yield Failure(place, f"JSON of an unknown shape: {SHAPES}")
        else:
            yield Skipped(place, "empty")
        return
    # The chunks of one document may occur in several objects.
    keyed = [value for value, reader in zip(values, readers, strict=True) if reader is panini.read_keyed]
    if keyed:
        yield from panini.read_documents(keyed, place, file)
    for number, (value, reader) in enumerate(zip(values, readers, strict=True), 1):
        if reader is not panini.read_keyed:
            yield from _object(value, f"{place}: record {number}", file, str(number))


def _reader(value: object) -> Reader | None:
    """Return what reads an object, by the first sign that fits; a new shape of record is its line here."""
    if not isinstance(value, dict):
        return None
    if panini.is_chunk(value):
        return panini.read_chunk
    if "text" not in value:
        if conversations.is_conversation(value):
            return conversations.read
        if isinstance(value.get("documents"), dict):
            return panini.read_combined
        if any(map(panini.is_chunk, value.values())):
            return panini.read_keyed
    is_openie = "passage" in value and ("text" not in value or "propositions" in value)
    if is_openie or "extracted_entities" in value or "extracted_triples" in value:
        return read_openie
    if "entities" in value or "verb_phrases" in value or "propositions" in value:
        return read_workspace
    return read_record if "text" in value else None
