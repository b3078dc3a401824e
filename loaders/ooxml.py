"""What Word, PowerPoint and Excel files have in common: parts of XML that point to each other."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Parts: TypeAlias = dict[str, bytes]


def parse(data: bytes) -> Element:
    """Return the root of a part."""
    return ElementTree.fromstring(data)  # noqa: S314 (entities are refused before)


def kind_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def value(element: Element | None, name: str = "val") -> str | None:
    """Return an attribute, in whatever namespace."""
    if element is not None:
        for key, written in element.attrib.items():
            if key.rpartition("}")[2] == name:
                return written
    return None


def number(element: Element | None, otherwise: int) -> int:
    """Return an attribute `val` that is a whole number."""
    written = value(element) or ""
    return int(written) if written.isdecimal() and len(written) < 9 else otherwise


def is_on(element: Element | None) -> bool:
    """Return whether a property of a text is there and not switched off."""
    return element is not None and value(element) not in ("0", "false", "off", "none", "noStrike")


def relations(parts: Parts, name: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the name of each part that a part points to, by id."""
    folder, _, file = name.rpartition("/")
    links = parts.get(f"{folder}/_rels/{file}.rels")
    targets: dict[str, tuple[str, str]] = {}
    for link in parse(links) if links else ():
        # join takes a target that begins at the root as it is
        target = posixpath.normpath(posixpath.join(f"/{folder}", link.get("Target", ""))).lstrip("/")
        if target in parts:
            targets[link.get("Id", "")] = link.get("Type", "").rpartition("/")[2], target
    return targets


def packed(parts: Parts) -> io.BytesIO:
    """Return the texts as an archive again, for libraries that read an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    stream.seek(0)
    return stream


def marked(pieces: Iterable[tuple[bool, str]]) -> str:
    """Join pieces of a text, with marks around struck-out pieces."""
    text = ""
    for struck, group in groupby(pieces, key=lambda piece: piece[0]):
        words = "".join(word for _, word in group)
        bare = words.strip()
        if struck and bare:
            words = words.replace(bare, f"~~{bare}~~", 1)
        text += words
    return text


def table(rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table, without the columns that are empty."""
    used = sorted({n for row in rows for n, text in enumerate(row) if text})
    for number, row in enumerate(rows):
        cells = [row[n].replace("|", "/") if n < len(row) else "" for n in used]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield "|" + "---|" * len(used)
