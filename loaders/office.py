"""Word, PowerPoint and Excel as Markdown.

These are zip archives of XML. Only their texts are taken out, within bounds: no pictures, no macros, nothing
that grows without end.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Literal, TypeAlias

from gsw_graph.loaders import sheets, slides, word
from gsw_graph.loaders.files import Converted, NothingError, UnusableError
from gsw_graph.loaders.ooxml import Parts, kind_of, parse

Kind: TypeAlias = Literal["docx", "pptx", "xlsx"]

MOST = 64 * 1024 * 1024
"""Bytes that the texts of one archive may unpack to; a long novel takes about 3 MiB."""

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
    """Read a document, see `Converted`. Raises UnusableError, and errors of the libraries for a broken
    document."""
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
        for name in names:
            if re.fullmatch(pattern, name):
                part = parts.get(name, b"")
                contents.left_out[left_out] += len(re.findall(sign, part)) if sign else 1
    about = []
    core = parts.get("docProps/core.xml")
    for element in parse(core) if core else ():
        key, text = kind_of(element), element.text or ""
        if key in _ABOUT and text.lower() not in _WRITERS:
            about.append((_ABOUT[key], text))
    contents.describe(about)
    if kind == "docx":
        word.read(parts, contents)
    elif kind == "pptx":
        contents.text = "\n\n".join(slides.texts(parts))
    else:
        contents.text = "\n".join(sheets.lines(parts, contents))


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


_WRITERS = {"openpyxl", "python-docx", "python-pptx", "docx4j", "apache poi", "user", "admin", "root"}
_ABOUT = {"creator": "author", "subject": "subject", "keywords": "keywords", "description": "description"}
