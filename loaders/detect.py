"""The format of a file, by its first bytes; its name decides only where those leave a choice."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from gsw_graph.loaders.files import HEAD, File
from gsw_graph.model import Failure

Format: TypeAlias = Literal["json", "jsonl", "markdown", "text", "pdf", "html", "archive"]

_BINARY: dict[bytes, Format] = {b"%PDF-": "pdf", b"PK\x03\x04": "archive", b"PK\x05\x06": "archive"}
# Formats that are not read, by how they begin. A later loader takes its line out of here and adds a Format.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Office document of the old kind (.doc, .xls, .ppt) or with a password",
    b"{\\rtf": "an RTF document",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
}
_JSONL = {".jsonl", ".ndjson"}
# A page may begin with an XML declaration and comments; its name decides where it begins with any other tag.
_HTML = re.compile(rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!--(?:(?!-->).){0,4000}-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL)
_HTML_NAMES = {".html", ".htm", ".xhtml"}
_SUPPORTED = "text, Markdown, JSON, JSONL, PDF, HTML, .docx, .pptx, .xlsx and EPUB are"
_OBJECT = re.compile(rb'\{\s*["}]')
# How files begin that are one object, often on one line: OpenIE results and Panini's combined file.
_WHOLE = re.compile(rb'\{\s*"(?:docs"\s*:\s*\[|documents"\s*:\s*\{|metadata"\s*:\s*\{\s*"total_)')
_ARRAY = re.compile(rb"\[\s*[{\]]")
_HEADING = re.compile(rb"^ {0,3}#{1,6}[ \t]+\S.*\r?\n[ \t]*\r?\n", re.MULTILINE)
_FRONT_MATTER = re.compile(rb"---[ \t]*\r?\n[\w-]+[ \t]*:")


def detect(file: File) -> Format | Failure:
    """The format to read a file as, or why it cannot be read."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    for magic, form in _BINARY.items():
        if head.startswith(magic):
            return form
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            return Failure(file.name, f"{what}, which is not a supported format ({_SUPPORTED})")
    body = head.lstrip()
    if _OBJECT.match(body):
        return "jsonl" if _suffix(file) in _JSONL or _one_object_a_line(file, body) else "json"
    if b"\0" in head:
        return Failure(file.name, f"not text: a NUL byte at offset {file.head.index(0)}")
    if not body and len(file.head) < HEAD:
        return Failure(file.name, "empty")
    if _HTML.match(body) or (_suffix(file) in _HTML_NAMES and body.startswith(b"<")):
        return "html"
    if _suffix(file) in _JSONL:
        return "jsonl"
    if _suffix(file) == ".json" or _ARRAY.match(body):
        return "json"
    if _suffix(file) in {".md", ".markdown"} or _looks_like_markdown(body):
        return "markdown"
    return "text"


def _suffix(file: File) -> str:
    return file.path.suffix.lower() if file.path else ""


def _one_object_a_line(file: File, body: bytes) -> bool:
    """Whether the first line closes what it opens, or the second opens anew (the first may be broken). An object alone is no list of lines."""
    first, _, rest = body.partition(b"\n")
    if not rest.strip():
        return not _WHOLE.match(body) and len(file.head) == HEAD and _suffix(file) != ".json"
    return not _WHOLE.match(body) and (first.rstrip().endswith(b"}") or rest.lstrip().startswith(b"{"))


def _looks_like_markdown(body: bytes) -> bool:
    """Front matter, a heading first, or two headings: one line with a # alone may be a comment."""
    return bool(_FRONT_MATTER.match(body) or _HEADING.match(body)) or len(_HEADING.findall(body)) > 1
