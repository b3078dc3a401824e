"""Word, PowerPoint, Excel and EPUB as Markdown. What comes in are the texts of the archive, checked by
`archives`."""

from __future__ import annotations

import datetime
import posixpath
import re
import warnings
from collections.abc import Iterable, Iterator
from urllib.parse import unquote
from xml.etree import ElementTree

from gsw_graph.loaders.documents import pdf, sheets, web
from gsw_graph.loaders.documents.archives import Kind, Parts, UnusableError, packed

_MOST_CELLS = 10_000_000  # few cells far apart make a sheet of thousands of millions
_NUMBER = re.compile(r"\d+")


def markdown(kind: Kind, parts: Parts, faults: list[str]) -> tuple[str, str]:
    """The Markdown of a document, and its title where it has one of its own; `faults` gets what is left out
    of it. Raises UnusableError, and what its libraries raise for a broken one."""
    if kind == "docx":
        return _word(parts)
    if kind == "pptx":
        return "\n\n".join(_bounded(_slides(parts))), ""
    if kind == "xlsx":
        return "\n".join(_bounded(_sheets(parts, faults))), ""
    return _book(parts)


class _Room:
    """As many characters as a PDF may have. A small archive may refer to one of its texts any number of
    times, or hold a table of one long row and thousands of short ones."""

    def __init__(self) -> None:
        self._left = pdf.MOST

    def take(self, text: str) -> str:
        """The text, where there is room for it."""
        if (left := self._left - len(text)) < 0:
            raise UnusableError(f"its text is longer than {pdf.MOST // 2**20} million characters")
        self._left = left
        return text


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    return map(_Room().take, texts)


def _word(parts: Parts) -> tuple[str, str]:
    import mammoth
    from mammoth import documents, transforms

    noted: set[tuple[str, str]] = set()

    def once(reference: documents.NoteReference) -> documents.NoteReference | documents.Text:
        """The whole note is written for each reference to it: the first stays."""
        note = (reference.note_type, reference.note_id)
        if note in noted:
            return documents.text("")
        noted.add(note)
        return reference

    result = mammoth.convert_to_html(
        packed(parts),
        style_map="p[style-name='Title'] => h1:fresh",
        include_embedded_style_map=False,
        convert_image=lambda _: [],  # an image may be a link to a file of this machine
        external_file_access=False,
        transform_document=transforms.element_of_type(documents.NoteReference, once),
    )
    return web.of(result.value)


def _slides(parts: Parts) -> Iterator[str]:
    names = [name for name in parts if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    order = _linked(parts, "ppt/presentation.xml", "{*}sldIdLst/{*}sldId") or sorted(
        names, key=lambda name: int(_NUMBER.findall(name)[-1])
    )
    for name in dict.fromkeys(order):
        for shape in ElementTree.fromstring(parts[name]).iter():  # noqa: S314 (archives refuses entities)
            kind = shape.tag.rpartition("}")[2]
            if kind == "sp":
                place = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
                mark = {"title": "## ", "ctrTitle": "# "}.get(
                    place.get("type", "") if place is not None else "", ""
                )
                paragraphs = [text for part in shape.iterfind("{*}txBody/{*}p") if (text := _text(part))]
                if mark and paragraphs:
                    yield mark + " ".join(paragraphs)
                else:
                    yield from paragraphs
            elif kind == "tbl":
                yield "\n".join(
                    _bounded(
                        _table(
                            [
                                [_text(cell) for cell in row.iterfind("{*}tc")]
                                for row in shape.iterfind("{*}tr")
                            ]
                        )
                    )
                )


def _text(element: ElementTree.Element) -> str:
    """What DrawingML writes: runs of text, and line breaks."""
    pieces = (
        (part.text or "") if part.tag.endswith("}t") else " "
        for part in element.iter()
        if part.tag.endswith(("}t", "}br", "}p"))
    )
    return " ".join("".join(pieces).split())


def _sheets(parts: Parts, faults: list[str]) -> Iterator[str]:
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that have no text
        book = openpyxl.load_workbook(packed(parts), read_only=True, data_only=True, keep_links=False)
        try:
            left, room = _MOST_CELLS, _Room()
            for sheet in book.worksheets:
                rows: list[list[str]] = []
                for row in sheets.rows(book, sheet, faults):
                    if (left := left - max(len(row), 1)) < 0:
                        raise UnusableError(f"more than {_MOST_CELLS:,} cells, or far fewer and far apart")
                    if any(texts := [room.take(_cell(value)) for value in row]):
                        rows.append(texts)
                if rows:
                    yield f"## {sheet.title}\n"
                    yield from _table(rows)
                    yield ""
        finally:
            book.close()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return " ".join(str(value).split())


def _table(rows: list[list[str]]) -> Iterator[str]:
    used = sorted({n for row in rows for n, text in enumerate(row) if text})
    for number, row in enumerate(rows):
        yield "| " + " | ".join((row[n] if n < len(row) else "").replace("|", "/") for n in used) + " |"
        if number == 0:
            yield "|" + "---|" * len(used)


def _book(parts: Parts) -> tuple[str, str]:
    container = ElementTree.fromstring(parts["META-INF/container.xml"])  # noqa: S314
    root = next((found.get("full-path", "") for found in container.iterfind("{*}rootfiles/{*}rootfile")), "")
    if root not in parts:
        raise UnusableError("a broken EPUB book: it does not say where its chapters are")
    package = ElementTree.fromstring(parts[root])  # noqa: S314
    targets = {item.get("id"): item.get("href", "") for item in package.iterfind("{*}manifest/{*}item")}
    hrefs = (targets.get(item.get("idref"), "") for item in package.iterfind("{*}spine/{*}itemref"))
    chapters = dict.fromkeys(
        posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href))) for href in hrefs
    )
    texts = (web.markdown(parts[chapter])[0] for chapter in chapters if chapter in parts)
    title = package.find("{*}metadata/{http://purl.org/dc/elements/1.1/}title")
    return "\n\n".join(_bounded(texts)), " ".join((title.text or "").split()) if title is not None else ""


def _linked(parts: Parts, name: str, path: str) -> list[str]:
    """The parts that the elements at a path of a part point to, in their order."""
    folder, _, file = name.rpartition("/")
    links = parts.get(f"{folder}/_rels/{file}.rels")
    if links is None or name not in parts:
        return []
    targets = {link.get("Id"): link.get("Target", "") for link in ElementTree.fromstring(links)}  # noqa: S314
    found: list[str] = []
    for element in ElementTree.fromstring(parts[name]).iterfind(path):  # noqa: S314
        ids = [value for key, value in element.attrib.items() if key.endswith("}id")]
        target = targets.get(ids[0], "") if ids else ""
        full = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
        if full in parts:
            found.append(full)
    return found
