"""JSON files: an array, one object, or one record a line; what each record is, is seen by its keys."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from gsw_graph.loaders import detect, markdown, panini, records
from gsw_graph.loaders.files import File, Item, Record, line_too_long, lines
from gsw_graph.loaders.text import decode_bytes
from gsw_graph.model.documents import Failure, Skipped

Reader: TypeAlias = Callable[[Record], Iterator[Item]]


def _read_keyed(record: Record) -> Iterator[Item]:
    return panini.read_keyed([record.value], record.place, record.file)


def _has(*keys: str) -> Callable[[Mapping[str, object]], bool]:
    return lambda value: not value.keys().isdisjoint(keys)


# The first sign that fits says which reader; a new shape of record is its line here.
_SHAPES: tuple[tuple[Callable[[Mapping[str, object]], bool], Reader], ...] = (
    (panini.is_chunk, panini.read_chunk),
    (lambda value: isinstance(value.get("documents"), dict) and "text" not in value, panini.read_combined),
    (lambda value: "text" not in value and any(map(panini.is_chunk, value.values())), _read_keyed),
    (_has("extracted_entities", "extracted_triples"), records.read_openie),
    (
        lambda value: "passage" in value and ("text" not in value or "propositions" in value),
        records.read_openie,
    ),
    (_has("entities", "verb_phrases", "propositions"), records.read_workspace),
    (_has("text"), records.read_record),
)


def read_lines(file: File) -> Iterator[Item]:
    """One record a line, read one at a time; a bad line is a failure and the next is read."""
    file = _in_utf8(file)
    blank = True
    for number, (place, line) in enumerate(lines(file), 1):
        if line is None:
            blank = False
            yield line_too_long(place)
        elif line.strip():
            blank = False
            try:
                value = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield Failure(place, detect.refusal(error))
            except json.JSONDecodeError as error:
                yield Failure(
                    place, f"broken JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}"
                )
            except (ValueError, RecursionError) as error:
                yield Failure(place, f"broken JSON: {error}")
            else:
                yield from _object(value, place, file, str(number))
    if blank:
        yield Skipped(file.name, "empty")


def read_whole(file: File) -> Iterator[Item]:
    """What one JSON array or object holds. The format allows no less than the whole file in memory."""
    data = file.stream.read().removeprefix(codecs.BOM_UTF8)
    text = decode_bytes(data, file.name)
    if isinstance(text, Failure):
        yield text
        return
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if (
            error.msg == "Extra data" and "\n" not in text[: error.pos].strip()
        ):  # the first line was too long to see that it is one of many
            yield from read_lines(replace(file, stream=io.BufferedReader(io.BytesIO(data))))
        else:
            yield Failure(
                f"{file.name}:{error.lineno}:{error.colno}",
                f"broken JSON: {error.msg} at line {error.lineno} column {error.colno}",
            )
    except (ValueError, RecursionError) as error:
        yield Failure(file.name, f"broken JSON: {error}")
    else:
        if isinstance(value, dict) and markdown.is_notebook(value):
            reason = records.flaw(value)
            yield from [Failure(file.name, reason)] if reason else markdown.read_notebook(value, file)
        elif isinstance(value, list):
            yield from _array(value, file.name, file)
        elif _reader(value) is records.read_record:
            yield from _array([value], file.name, file)
        else:
            yield from _object(value, file.name, file, "")


def _in_utf8(file: File) -> File:
    """The file, read in the encoding that its first whole lines tell."""
    codec = detect.detect_encoding(file.head[: file.head.rfind(b"\n") + 1] or file.head)
    return file if codec in (None, "utf-8") else detect.transcode(file, codec)


def _object(value: object, place: str, file: File, number: str) -> Iterator[Item]:
    if not isinstance(value, dict):
        yield Failure(place, f"not a record: {records.SHAPES}")
    elif (docs := value.get("docs")) is not None and isinstance(docs, list) and "text" not in value:
        yield from _array(docs, place, file)  # OpenIE results, which keep their records under a key
    elif not number and not _reader(value):
        yield Failure(place, f"JSON of an unknown shape: {records.SHAPES}")
    else:
        yield from (_reader(value) or records.read_record)(Record(value, place, file, number))


def _array(values: list[object], place: str, file: File) -> Iterator[Item]:
    readers = [_reader(value) for value in values]
    if not values:
        yield Skipped(place, "empty")
        return
    if not any(readers):
        yield Failure(place, f"JSON of an unknown shape: {records.SHAPES}")
        return
    # The chunks of one document may stand in several objects.
    if keyed := [
        value
        for value, reader in zip(values, readers, strict=True)
        if reader is _read_keyed and isinstance(value, dict)
    ]:
        yield from panini.read_keyed(keyed, place, file)
    for number, (value, reader) in enumerate(zip(values, readers, strict=True), 1):
        if reader is not _read_keyed:
            yield from _object(value, f"{place}: record {number}", file, str(number))


def _reader(value: object) -> Reader | None:
    return next((read for fits, read in _SHAPES if fits(value)), None) if isinstance(value, dict) else None
