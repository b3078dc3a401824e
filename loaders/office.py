"""Word, PowerPoint and Excel as Markdown.

These are zip archives of XML. Only their texts are taken out, within bounds: no pictures, no macros, nothing
that grows without end.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gsw_graph.loaders import web
from gsw_graph.loaders.files import Converted, NothingError, UnusableError
from gsw_graph.loaders.text import shifted

Kind: TypeAlias = Literal["docx", "pptx", "xlsx"]
Parts: TypeAlias = dict[str, bytes]

MOST = 64 * 1024 * 1024
"""Bytes that the texts of one archive may unpack to; a long novel takes about 3 MiB."""

_MOST_CELLS = 10_000_000  # few cells far apart make a sheet of thousands of millions
_TEXTS = (".xml", ".rels")
_FOLDERS: dict[str, Kind] = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
# Parts of an archive that are left out, by what is counted in them (a whole part, where that is empty).
_UNREAD = (
    (
        r"[^/]+/(?:comments/|threadedComments/)?(?:modernC|c|threadedC)omment[^/]*\.xml",
        rb"<(?:\w+:)?(?:comment|cm|threadedComment)[ >]",
        "comment",
    ),
    (r"[^/]+/media/.+", b"", "picture"),
    (r"[^/]+/(?:charts|chartEx)/chart[^/]*\.xml", b"", "chart"),
    (r"[^/]+/embeddings/.+", b"", "embedded object"),
    (r"[^/]+/diagrams/data[^/]*\.xml", b"", "diagram"),
    (r"word/(?:header|footer)\d*\.xml", rb"<w:t[ >]", "page header or footer"),
)


# --- archives ---


def markdown(data: bytes, contents: Converted) -> None:
    """Read a document; see `Converted`. Raises UnusableError, and what its libraries raise for a broken
    one."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            parts = _texts(archive)
    # zipfile raises NotImplementedError for a compression that it cannot read, RuntimeError for a password
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError) as error:
        raise UnusableError(f"a broken zip archive or office document ({error})") from error
    except RuntimeError as error:
        raise UnusableError("locked with a password: save it without one") from error
    kind = contents.loader = _kind(names, parts)
    for pattern, sign, left_out in _UNREAD:
        unread = [name for name in names if re.fullmatch(pattern, name)]
        contents.left_out[left_out] += (
            sum(len(re.findall(sign, parts.get(name, b""))) for name in unread) if sign else len(unread)
        )
    core = parts.get("docProps/core.xml")
    contents.describe(
        (_ABOUT[kind_of(element)], element.text or "")
        for element in (_parse(core) if core else ())
        if kind_of(element) in _ABOUT and (element.text or "").lower() not in _WRITERS
    )
    if kind == "docx":
        _read_word(parts, contents)
    else:
        lines = _slides(parts) if kind == "pptx" else _sheets(parts, contents)
        contents.text = ("\n\n" if kind == "pptx" else "\n").join(lines)


def _texts(archive: zipfile.ZipFile) -> Parts:
    parts: Parts = {}
    left = MOST
    for info in archive.infolist():
        name = info.filename.lower()
        if not (name.endswith(_TEXTS) or name == "mimetype"):
            continue
        with archive.open(info) as member:
            data = member.read(left + 1)
        left -= len(data)
        if left < 0:
            raise UnusableError(f"its texts unpack to more than {MOST // 2**20} MiB")
        # Entities are how a small text grows without end; no office program writes them. NULs off, so that
        # UTF-16 hides nothing.
        if b"<!ENTITY" in data.replace(b"\0", b""):
            raise UnusableError(
                f"its part {info.filename!r} defines XML entities, which no such document needs"
            )
        parts[info.filename] = data
    return parts


def _kind(names: list[str], parts: Parts) -> Kind:
    if parts.get("mimetype", b"").startswith(b"application/vnd.oasis.opendocument"):
        raise UnusableError(
            "an OpenDocument file, which is not a supported format: save it as .docx, .xlsx or .pptx"
        )
    if "xl/workbook.bin" in names:
        raise UnusableError("a binary Excel workbook, which is not a supported format: save it as .xlsx")
    for folder, kind in _FOLDERS.items():
        if "[Content_Types].xml" in parts and any(name.startswith(folder) for name in parts):
            return kind
    raise NothingError("a zip archive, which is not a supported format: unpack it and load the folder")


def _parse(data: bytes) -> Element:
    return ElementTree.fromstring(data)  # noqa: S314 (`_texts` refuses entities)


def kind_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _value(element: Element | None, name: str = "val") -> str | None:
    """Return an attribute, in whatever namespace."""
    attributes = {} if element is None else element.attrib
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), None)


def _relations(parts: Parts, name: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the name of each part that a part points to, by id."""
    folder, _, file = name.rpartition("/")
    links = parts.get(f"{folder}/_rels/{file}.rels")
    # join takes a target that begins at the root as it is
    targets = {
        link.get("Id", ""): (
            link.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join(f"/{folder}", link.get("Target", ""))).lstrip("/"),
        )
        for link in (_parse(links) if links else ())
    }
    return {key: target for key, target in targets.items() if target[1] in parts}


_WRITERS = {"openpyxl", "python-docx", "python-pptx", "docx4j", "apache poi", "user", "admin", "root"}
_ABOUT = {"creator": "author", "subject": "subject", "keywords": "keywords", "description": "description"}


# --- Word ---

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def _read_word(parts: Parts, contents: Converted) -> None:
    import mammoth

    notes: set[str] = set()
    for name in parts:
        if re.fullmatch(r"word/(?:document|footnotes|endnotes)\.xml", name):
            parts[name] = _prepared(parts[name], contents.left_out, notes)
    result = mammoth.convert_to_html(
        _packed(parts),
        style_map="p[style-name='Title'] => h1:fresh",
        include_embedded_style_map=False,
        convert_image=lambda _: [],  # an image may be a link to a file of this machine
        external_file_access=False,
    )
    about, meta = contents.about, contents.meta
    web.read_page(result.value, contents)
    contents.about, contents.meta = about, meta


def _packed(parts: Parts) -> io.BytesIO:
    """Return the texts as an archive again, for those who read one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    stream.seek(0)
    return stream


def _prepared(data: bytes, left_out: Counter[str], notes: set[str]) -> bytes:
    """Return a part of a Word document with formulas as their text, without hidden runs, and without all but
    one reference to a note, as the whole note would be written for each."""
    root = _parse(data)
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(parent))):
            kind, vanish = kind_of(child), child.find(f"{_W}rPr/{_W}vanish")
            if kind == "oMath":
                parent[place] = ElementTree.Element(f"{_W}r")
                text = ElementTree.SubElement(parent[place], f"{_W}t", {_SPACE: "preserve"})
                text.text = "".join(child.itertext())
                left_out["layout of a formula"] += 1
            elif kind == "r" and vanish is not None and _value(vanish) not in ("0", "false", "off"):
                left_out["hidden text"] += any(text.text for text in child.iter(f"{_W}t"))
                parent.remove(child)
            elif kind in ("footnoteReference", "endnoteReference"):
                if (note := f"{kind} {_value(child, 'id')}") in notes:
                    parent.remove(child)
                notes.add(note)
            left_out["deleted text"] += kind == "del" and child.find(f".//{_W}delText") is not None
    return bytes(ElementTree.tostring(root, encoding="utf-8"))


def _paragraphs(element: Element, path: str) -> list[str]:
    """Return the texts of the paragraphs of DrawingML at a path below an element."""
    return [text for part in element.iterfind(path) if (text := _plain_text(part))]


def _plain_text(paragraph: Element) -> str:
    """Return the text of a paragraph of DrawingML in a line."""
    text = sign = ""
    for part in paragraph.iter():
        kind = kind_of(part)
        if kind in ("r", "fld"):
            baseline = _value(part.find("{*}rPr"), "baseline") or "0"
            sign = "_" if baseline.startswith("-") else "^" if baseline.strip("0%") else ""
        elif kind == "t":
            text += shifted(part.text or "", sign) if sign else part.text or ""
        elif kind in ("br", "p", "tab"):
            text += " "
    return " ".join(text.split())


# --- PowerPoint ---


def _slides(parts: Parts) -> Iterator[str]:
    names = [name for name in parts if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    relations = _relations(parts, "ppt/presentation.xml")
    shown = _parse(parts["ppt/presentation.xml"]).iterfind("{*}sldIdLst/{*}sldId") if relations else ()
    # a slide has an id of its own, too
    ids = [value for element in shown for key, value in element.attrib.items() if key.endswith("}id")]
    by_number = sorted(names, key=lambda name: int(re.findall(r"\d+", name)[-1]))
    for name in dict.fromkeys([relations[i][1] for i in ids if i in relations] or by_number):
        yield from _shapes(_parse(parts[name]))
        for kind, part in _relations(parts, name).values():
            if kind == "notesSlide":
                notes = list(_shapes(_parse(parts[part])))
                yield from [f"notes: {notes[0]}", *notes[1:]] if notes else []


def _shapes(element: Element) -> Iterator[str]:
    """Yield the texts of shapes, but for the numbers, dates and edges of pages."""
    for shape in element:
        kind, place = kind_of(shape), shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        role = "" if place is None else place.get("type", "")
        if kind == "sp" and role in ("title", "ctrTitle"):
            title = " ".join(_paragraphs(shape, "{*}txBody/{*}p"))
            yield f"{'#' if role == 'ctrTitle' else '##'} {title}" if title else ""
        elif kind == "sp" and role not in ("sldImg", "sldNum", "hdr", "ftr", "dt"):
            yield from _paragraphs(shape, "{*}txBody/{*}p")
        elif kind == "tbl":
            rows = [[_plain_text(cell) for cell in row.iterfind("{*}tc")] for row in shape.iterfind("{*}tr")]
            yield "\n".join(_table(rows))
        elif kind not in ("sp", "Fallback"):  # the same again for older programs
            yield from _shapes(shape)


# --- Excel ---

_WITHOUT_VALUE = re.compile(rb"<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)")


def _sheets(parts: Parts, contents: Converted) -> Iterator[str]:
    import openpyxl

    book = openpyxl.load_workbook(_packed(parts), data_only=True, read_only=True, keep_links=False)
    formulas = None
    if any(_WITHOUT_VALUE.search(data) for name, data in parts.items() if "/worksheets/" in name):
        formulas = openpyxl.load_workbook(_packed(parts), read_only=True, keep_links=False)
    left = _MOST_CELLS
    for sheet in book.worksheets:
        rows: list[list[str]] = []
        written = formulas[sheet.title].iter_rows(values_only=True) if formulas else iter(())
        try:
            for values in sheet.iter_rows(values_only=True):
                formula = [*next(written, ()), *[None] * len(values)]
                missing = [n for n, value in enumerate(values) if value is None and formula[n] is not None]
                contents.left_out["uncalculated formula"] += len(missing)
                left -= max(len(values), 1)
                if left < 0:
                    raise UnusableError(f"more than {_MOST_CELLS:,} cells, or far fewer and far apart")
                rows.append([_cell(formula[n] if value is None else value) for n, value in enumerate(values)])
        except (ValueError, KeyError, IndexError, TypeError, ElementTree.ParseError) as error:
            contents.faults.append(
                f"sheet {sheet.title!r}: what follows row {len(rows)} cannot be read "
                f"({type(error).__name__}: {str(error)[:100]})"
            )
        if rows := [row for row in rows if any(row)]:
            hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
            yield from (f"## {sheet.title}{hidden}\n", *_table(rows), "")
    for name in parts:
        if re.fullmatch(r"xl/drawings/drawing\d+\.xml", name):
            yield from _paragraphs(_parse(parts[name]), ".//{*}txBody/{*}p")


def _cell(value: object) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return "" if value is None else " ".join(str(value).split())


def _table(rows: list[list[str]]) -> Iterator[str]:
    used = sorted({n for row in rows for n, text in enumerate(row) if text})
    for number, row in enumerate(rows):
        yield "| " + " | ".join((row[n] if n < len(row) else "").replace("|", "/") for n in used) + " |"
        if number == 0:
            yield "|" + "---|" * len(used)
