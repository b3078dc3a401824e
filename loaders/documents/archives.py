"""Office documents and books are zip archives of XML. Only their texts are taken out, within bounds: no
pictures, no macros, nothing that grows without end."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["docx", "pptx", "xlsx", "epub"]
Parts: TypeAlias = dict[str, bytes]

MOST = 64 * 1024 * 1024
"""Bytes that the texts of one archive may unpack to; a long novel takes about 3 MiB."""

_TEXTS = (".xml", ".rels", ".opf", ".xhtml", ".html", ".htm")
_PARSED = (".xml", ".rels", ".opf")
_FOLDERS: tuple[tuple[str, Kind], ...] = (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx"))


class UnusableError(Exception):
    """Why nothing can be read from a file, in words for its owner."""


class NothingError(UnusableError):
    """Why there is nothing to read in a file, which is no fault of it."""


def unpacked(data: bytes) -> tuple[Kind, Parts]:
    """What an archive is, and its texts by name. Raises UnusableError."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            parts = _texts(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError) as error:
        raise UnusableError(f"a broken zip archive or office document ({error})") from error
    except RuntimeError as error:  # zipfile's word for a password
        raise UnusableError("locked with a password: save it without one") from error
    return _kind(names, parts), parts


def packed(parts: Parts) -> io.BytesIO:
    """The texts as an archive again, for those who read one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    stream.seek(0)
    return stream


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
