"""Word, PowerPoint, Excel and EPUB as Markdown.

These are zip archives of XML. Only their texts are taken out, within bounds: no pictures, no macros, nothing
that grows without end.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import warnings
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gsw_graph.loaders import pdf, web
from gsw_graph.loaders.files import Converted, NothingError, UnusableError, properties
from gsw_graph.loaders.typography import subscript, superscript

Kind: TypeAlias = Literal["docx", "pptx", "xlsx", "epub"]
Parts: TypeAlias = dict[str, bytes]

MOST = 64 * 1024 * 1024
"""Bytes that the texts of one archive may unpack to; a long novel takes about 3 MiB."""

_MOST_CELLS = 10_000_000  # few cells far apart make a sheet of thousands of millions
_MOST_MERGED = 100_000  # cells that get the value of the cell they are merged with
_TEXTS = (".xml", ".rels", ".opf", ".xhtml", ".html", ".htm")
_PARSED = (".xml", ".rels", ".opf")
_FOLDERS: tuple[tuple[str, Kind], ...] = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))
_NUMBER = re.compile(r"\d+")
# Parts of an archive that are left out, by what is counted in them (a whole part, where that is empty).
_UNREAD = (
    (
        re.compile(r"[^/]+/(?:comments/|threadedComments/)?(?:modernC|c|threadedC)omment[^/]*\.xml"),
        r"<(?:\w+:)?(?:comment|cm|threadedComment)[ >]",
        "comment",
    ),
    (re.compile(r"[^/]+/media/.+"), "", "picture"),
    (re.compile(r"[^/]+/(?:charts|chartEx)/chart[^/]*\.xml"), "", "chart"),
    (re.compile(r"[^/]+/embeddings/.+"), "", "embedded object"),
)  # fmt: skip


# --- archives ---


def markdown(data: bytes, found: Converted) -> None:
    """Read a document; see `Converted`. Raises UnusableError, and what its libraries raise for a broken
    one."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            parts = _texts(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError) as error:
        raise UnusableError(f"a broken zip archive or office document ({error})") from error
    except RuntimeError as error:  # zipfile's word for a password
        raise UnusableError("locked with a password: save it without one") from error
    kind = found.loader = _kind(names, parts)
    for pattern, sign, what in _UNREAD:
        for name in filter(pattern.fullmatch, names):
            text = parts.get(name, b"").decode("utf-8", "replace") if sign else ""
            found.left_out[what] += len(re.findall(sign, text)) if sign else 1
    if kind == "epub":
        _read_book(parts, found)
        return
    found.about = _core_properties(parts)
    if kind == "docx":
        _read_word(parts, found)
    elif kind == "pptx":
        found.text = "\n\n".join(_bounded(_slides(parts)))
    else:
        found.text = "\n".join(_bounded(_sheets(parts, found)))


def _texts(archive: zipfile.ZipFile) -> Parts:
    parts: Parts = {}
    left = MOST
    for info in archive.infolist():
        name = info.filename.lower()
        if not (name.endswith(_TEXTS) or name == "mimetype"):
            continue
        with archive.open(info) as member:
            data = member.read(left + 1)
        if len(data) > left:
            raise UnusableError(f"its texts unpack to more than {MOST // 2**20} MiB")
        left -= len(data)
        # Entities are how a small text grows without end; no office program writes them. NULs off, so that
        # UTF-16 hides nothing.
        if name.endswith(_PARSED) and b"<!ENTITY" in data.replace(b"\0", b""):
            raise UnusableError(
                f"its part {info.filename!r} defines XML entities, which no such document needs"
            )
        parts[info.filename] = data
    return parts


def _kind(names: list[str], parts: Parts) -> Kind:
    purpose = parts.get("mimetype", b"").strip()
    if purpose == b"application/epub+zip":
        return "epub"
    if purpose.startswith(b"application/vnd.oasis.opendocument"):
        raise UnusableError(
            "an OpenDocument file, which is not a supported format: save it as .docx, .xlsx or .pptx"
        )
    if "xl/workbook.bin" in names:
        raise UnusableError("a binary Excel workbook, which is not a supported format: save it as .xlsx")
    if "[Content_Types].xml" in parts:
        for folder, kind in _FOLDERS:
            if any(name.startswith(folder) for name in parts):
                return kind
    raise NothingError("a zip archive, which is not a supported format: unpack it and load the folder")


class _TextBudget:
    """As many characters as a PDF may have. A small archive may refer to one of its texts any number of
    times, or hold a table of one long row and thousands of short ones."""

    def __init__(self) -> None:
        self._left = pdf.MOST

    def consume(self, text: str) -> str:
        """Return the text. Raises UnusableError where there is more than may be."""
        if (left := self._left - len(text)) < 0:
            raise UnusableError(f"its text is longer than {pdf.MOST // 2**20} million characters")
        self._left = left
        return text


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    return map(_TextBudget().consume, texts)


def _parse(data: bytes) -> Element:
    return ElementTree.fromstring(data)  # noqa: S314 (`_texts` refuses entities)


def _kind_of(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _value(element: Element | None, name: str = "val") -> str | None:
    """Return an attribute, in whatever namespace."""
    if element is None:
        return None
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)


def _relations(parts: Parts, name: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the name of each part that a part points to, by id."""
    folder, _, file = name.rpartition("/")
    links = parts.get(f"{folder}/_rels/{file}.rels")
    found = {}
    for link in _parse(links) if links is not None else ():
        target = link.get("Target", "")
        full = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
        if full in parts:
            found[link.get("Id", "")] = link.get("Type", "").rpartition("/")[2], full
    return found


_WRITERS = {"openpyxl", "python-docx", "python-pptx", "docx4j", "apache poi", "user", "admin", "root"}
_ABOUT = {
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "description": "description",
}


def _core_properties(parts: Parts) -> str:
    data = parts.get("docProps/core.xml")
    elements = list(_parse(data)) if data else []
    return properties(
        (_ABOUT[kind], element.text or "")
        for element in elements
        if (kind := _kind_of(element)) in _ABOUT and (element.text or "").lower() not in _WRITERS
    )


# --- Word ---

_DIAGRAM = "{*}ptLst/{*}pt/{*}t/{*}p"  # its texts (SmartArt)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def _read_word(parts: Parts, found: Converted) -> None:
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

    edges = []
    for name in list(parts):
        if re.fullmatch(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml", name):
            root = _parse(parts[name])
            _prepare_word(root, found.left_out)
            if "header" in name or "footer" in name:
                edges += _paragraphs(root, f".//{_W}p")
            else:
                parts[name] = ElementTree.tostring(root, encoding="utf-8")
    result = mammoth.convert_to_html(
        _packed(parts),
        style_map="p[style-name='Title'] => h1:fresh",
        include_embedded_style_map=False,
        convert_image=lambda _: [],  # an image may be a link to a file of this machine
        external_file_access=False,
        transform_document=transforms.element_of_type(documents.NoteReference, once),
    )
    about = found.about
    web.read_page(result.value, found)
    found.about = about
    edges = [
        text for text in dict.fromkeys(edges) if re.search(r"[^\W\d_]{2}", text) and text not in found.text
    ]
    diagrams = [
        text
        for name in parts
        if "/diagrams/data" in name
        for text in _paragraphs(_parse(parts[name]), _DIAGRAM)
    ]
    found.text = "\n\n".join([found.text, *diagrams, *edges])


def _packed(parts: Parts) -> io.BytesIO:
    """Return the texts as an archive again, for those who read one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    stream.seek(0)
    return stream


def _prepare_word(root: Element, left_out: Counter[str]) -> None:
    """Change a part of a Word document so that nothing of it is lost on the way to HTML: text boxes become
    paragraphs after that which they hang on, formulas become text, hidden runs go."""
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(parent))):
            kind = _kind_of(child)
            if kind == "AlternateContent":
                for other in list(child)[1:]:  # the same again, for older programs
                    child.remove(other)
                if len(child) and child[0].find(f".//{_W}txbxContent") is not None:
                    child[0].tag = f"{_W}r"
                    child.tag = f"{_W}smartTag"
            elif kind in ("oMath", "oMathPara") and not _kind_of(parent).startswith("oMath"):
                run = Element(f"{_W}r")
                ElementTree.SubElement(
                    run, f"{_W}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}
                ).text = formula(child)
                run.tail = child.tail
                parent[place] = run
            elif kind == "r" and (vanish := child.find(f"{_W}rPr/{_W}vanish")) is not None:
                if _value(vanish) not in ("0", "false", "off"):
                    left_out["hidden text"] += any(text.text for text in child.iter(f"{_W}t"))
                    parent.remove(child)
            elif kind == "del" and child.find(f".//{_W}delText") is not None:
                left_out["deleted text"] += 1
    for parent in list(root.iter()):
        for place, paragraph in reversed(list(enumerate(parent))):
            if paragraph.tag == f"{_W}p":
                boxes = list(_boxes(paragraph))
                parent[place + 1 : place + 1] = [block for box in boxes for block in box]
                for box in boxes:
                    box[:] = []


def _boxes(paragraph: Element) -> Iterator[Element]:
    """Yield the text boxes of a paragraph; those within are their own paragraphs' affair."""
    for child in paragraph:
        if child.tag == f"{_W}txbxContent":
            yield child
        else:
            yield from _boxes(child)


def _paragraphs(element: Element, path: str) -> list[str]:
    """Return the texts of the paragraphs of Word or DrawingML at a path below an element."""
    return [text for part in element.iterfind(path) if (text := _plain_text(part))]


def _plain_text(paragraph: Element) -> str:
    """Return the text of a paragraph of Word or DrawingML: its runs, line breaks and formulas."""
    text = ""
    for part in _inline(paragraph):
        kind = _kind_of(part)
        if kind in ("oMath", "oMathPara"):
            text += formula(part)
        elif kind in ("br", "p", "tab", "cr"):
            text += " "
        elif kind == "fld":
            text += "".join(t.text or "" for t in part.iter() if _kind_of(t) == "t")
        else:
            run = "".join(t.text or "" for t in part if _kind_of(t) == "t")
            run += " " * any(_kind_of(t) in ("br", "tab") for t in part)
            baseline = _value(part.find("{*}rPr"), "baseline") or "0"
            write = subscript if baseline.startswith("-") else superscript
            text += write(text[-60:], run) if baseline.strip("-0%") else run
    return " ".join(text.split())


def _inline(element: Element) -> Iterator[Element]:
    """Yield what a line is made of, in its order, not what stands within that."""
    for child in element:
        kind = _kind_of(child)
        leaf = kind in ("r", "fld", "oMath", "oMathPara", "br", "tab", "cr")
        if leaf or kind == "p":
            yield child
        if not leaf and kind != "Fallback":
            yield from _inline(child)


# --- formulas ---

_GROUPED = re.compile(r"[\w.,]*|\(.*\)", re.DOTALL)
# How the common kinds of formula are written, by their parts. Any other is its text in reading order.
_FORMULAS: dict[str, Callable[[Mapping[str, str]], str]] = {
    "sSup": lambda part: _group(part["e"]) + _scripts(part),
    "sSub": lambda part: _group(part["e"]) + _scripts(part),
    "sSubSup": lambda part: _group(part["e"]) + _scripts(part),
    "f": lambda part: f"{_group(part['num'])}/{_group(part['den'])}",
    "rad": lambda part: (f"root_{_group(part['deg'])}" if part["deg"] else "sqrt") + f"({part['e']})",
    "nary": lambda part: f"{part['chr'] or '∫'}{_scripts(part)} {part['e']}",
    "d": lambda part: f"{part['begChr'] or '('}{part['e']}{part['endChr'] or ')'}",
}


def formula(element: Element) -> str:
    """Write a formula of Office in one line: (a+b)/(2c), x^2, sqrt(n), ∑_(i=1)^n."""
    kind = _kind_of(element)
    if kind == "t":
        return element.text or ""
    parts = [(name, formula(child)) for child in element if not (name := _kind_of(child)).endswith("Pr")]
    if kind not in _FORMULAS:
        return (" " if kind in ("m", "mr", "eqArr") else "").join(text for _, text in parts)
    named: dict[str, list[str]] = defaultdict(list)
    for name, text in parts:
        named[name].append(text)
    settings = {_kind_of(child): _value(child) or "" for child in element.iterfind(f"{{*}}{kind}Pr/*")}
    return _FORMULAS[kind](
        defaultdict(str, {name: ", ".join(texts) for name, texts in named.items()} | settings)
    )


def _group(text: str) -> str:
    return text if _GROUPED.fullmatch(text) else f"({text})"


def _scripts(part: Mapping[str, str]) -> str:
    return "".join(f"{mark}{_group(part[name])}" for mark, name in (("_", "sub"), ("^", "sup")) if part[name])


# --- PowerPoint ---


def _slides(parts: Parts) -> Iterator[str]:
    names = [name for name in parts if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    relations = _relations(parts, "ppt/presentation.xml")
    shown = _parse(parts["ppt/presentation.xml"]).iterfind("{*}sldIdLst/{*}sldId") if relations else ()
    # a slide has an id of its own, too
    ids = [value for element in shown for key, value in element.attrib.items() if key.endswith("}id")]
    order = [relations[i][1] for i in ids if i in relations] or sorted(
        names, key=lambda name: int(_NUMBER.findall(name)[-1])
    )
    for name in dict.fromkeys(order):
        yield from _shapes(_parse(parts[name]))
        for kind, part in _relations(parts, name).values():
            if kind == "notesSlide":
                notes = list(_shapes(_parse(parts[part]), ("sldImg", "sldNum", "hdr", "ftr", "dt")))
                yield from [f"notes: {notes[0]}", *notes[1:]] if notes else []
            elif kind == "diagramData":
                yield from _paragraphs(_parse(parts[part]), _DIAGRAM)


def _shapes(element: Element, without: tuple[str, ...] = ()) -> Iterator[str]:
    for shape in element:
        kind = _kind_of(shape)
        if kind == "sp":
            place = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
            role = place.get("type", "") if place is not None else ""
            if role in without:
                continue
            mark = {"title": "## ", "ctrTitle": "# "}.get(role, "")
            paragraphs = _paragraphs(shape, "{*}txBody/{*}p")
            if mark and paragraphs:
                yield mark + " ".join(paragraphs)
            else:
                yield from paragraphs
        elif kind == "tbl":
            rows = [[_plain_text(cell) for cell in row.iterfind("{*}tc")] for row in shape.iterfind("{*}tr")]
            yield "\n".join(_bounded(_table(rows)))
        elif kind == "AlternateContent":  # the same twice, for newer and older programs
            yield from _shapes(shape[0] if len(shape) else shape, without)
        else:
            yield from _shapes(shape, without)


# --- Excel ---

_WITHOUT_VALUE = re.compile(rb"<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)")
_MERGED = re.compile(rb'<mergeCell [^>]*ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')


def _sheets(parts: Parts, found: Converted) -> Iterator[str]:
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that have no text
        how = {"read_only": True, "keep_links": False}
        book = openpyxl.load_workbook(_packed(parts), data_only=True, **how)
        formulas = None
        if any(_WITHOUT_VALUE.search(data) for name, data in parts.items() if "/worksheets/" in name):
            formulas = openpyxl.load_workbook(_packed(parts), **how)
        left, budget = _MOST_CELLS, _TextBudget()
        for sheet in book.worksheets:
            rows: list[list[str]] = []
            written = formulas[sheet.title].iter_rows(values_only=True) if formulas else None
            try:
                for values in sheet.iter_rows(values_only=True):
                    if written is not None:
                        pairs = list(zip(values, next(written, ()), strict=False))
                        found.left_out["uncalculated formula"] += sum(
                            a is None and b is not None for a, b in pairs
                        )
                        values = tuple(kept if kept is not None else said for kept, said in pairs)
                    if (left := left - max(len(values), 1)) < 0:
                        raise UnusableError(f"more than {_MOST_CELLS:,} cells, or far fewer and far apart")
                    rows.append([budget.consume(_cell(value)) for value in values])
            except (ValueError, KeyError, IndexError, TypeError, ElementTree.ParseError) as error:
                found.faults.append(
                    f"sheet {sheet.title!r}: what follows row {len(rows)} cannot be read "
                    f"({type(error).__name__}: {str(error)[:100]})"
                )
            _spread(rows, parts.get(getattr(sheet, "_worksheet_path", "").lstrip("/"), b""), budget)
            if rows := [row for row in rows if any(row)]:
                hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
                yield f"## {sheet.title}{hidden}\n"
                yield from _table(rows)
                yield ""
    for name in parts:
        if re.fullmatch(r"xl/drawings/drawing\d+\.xml", name):
            yield from _paragraphs(_parse(parts[name]), ".//{*}txBody/{*}p")


def _spread(rows: list[list[str]], sheet: bytes, budget: _TextBudget) -> None:
    """Write the value of merged cells into each of them, so that every row says it."""
    from openpyxl.utils import range_boundaries

    left = _MOST_MERGED
    for reference in _MERGED.findall(sheet):
        x0, y0, x1, y1 = range_boundaries(reference.decode())
        left -= (x1 - x0 + 1) * (y1 - y0 + 1)
        if left < 0 or y0 > len(rows) or x0 > len(rows[y0 - 1]):
            continue
        for row in rows[y0 - 1 : y1]:
            for n in range(x0 - 1, min(x1, len(row))):
                row[n] = budget.consume(rows[y0 - 1][x0 - 1])


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


# --- EPUB ---


def _read_book(parts: Parts, found: Converted) -> None:
    container = _parse(parts["META-INF/container.xml"])
    root = next((file.get("full-path", "") for file in container.iterfind("{*}rootfiles/{*}rootfile")), "")
    if root not in parts:
        raise UnusableError("a broken EPUB book: it does not say where its chapters are")
    package = _parse(parts[root])
    targets = {item.get("id"): item.get("href", "") for item in package.iterfind("{*}manifest/{*}item")}
    hrefs = (targets.get(item.get("idref"), "") for item in package.iterfind("{*}spine/{*}itemref"))
    chapters = dict.fromkeys(
        posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href))) for href in hrefs
    )
    budget = _TextBudget()
    texts = []
    for chapter in chapters:
        if chapter in parts:
            page = Converted()
            web.markdown(parts[chapter], page)
            found.left_out.update(page.left_out)
            texts.append(budget.consume(page.text))
    found.text = "\n\n".join(texts)
    metadata = package.find("{*}metadata")
    said = [(_kind_of(element), element.text or "") for element in (metadata if metadata is not None else ())]
    found.title = next((" ".join(text.split()) for name, text in said if name == "title"), "")
    names = {"creator": "author", "publisher": "publisher", "subject": "subject", "date": "date"}
    found.about = properties((names[name], text) for name, text in said if name in names)
