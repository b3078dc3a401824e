"""PDF, HTML, Word, PowerPoint, Excel and EPUB: the extra `documents`; and mail, which needs it for HTML
alone. Each becomes Markdown, or plain text (PDF, mail), and is then read as such.

Nothing is fetched and nothing in a document runs. What a document may cost is bounded: the bytes of the file,
those that it unpacks to, and the time and the memory of the child process that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from gsw_graph.loaders import markdown, text
from gsw_graph.loaders.documents import converter
from gsw_graph.loaders.documents.archives import NothingError, UnusableError
from gsw_graph.loaders.documents.convert import WHAT, Converted, Form
from gsw_graph.loaders.encoding import EXTRA
from gsw_graph.loaders.files import File, Item
from gsw_graph.loaders.split import paragraphs, split
from gsw_graph.model import Failure, Skipped

MOST = 256 * 1024 * 1024
"""Bytes of a file, of which most are pictures where it is large."""

_LIBRARIES: dict[Form, str] = {
    "pdf": "pypdfium2",
    "html": "markdownify",
    "archive": "mammoth",
    "mail": "email",
}


def read_pdf(file: File) -> Iterator[Item]:
    """The document of a PDF file, or the failure that keeps it out."""
    yield from _document(file, "pdf")


def read_html(file: File) -> Iterator[Item]:
    """The document of a page."""
    yield from _document(file, "html")


def read_archive(file: File) -> Iterator[Item]:
    """The document of an Office document or a book, all of which are zip archives."""
    yield from _document(file, "archive")


def read_mail(file: File) -> Iterator[Item]:
    """The document of a mail; what is attached to it is skipped."""
    yield from _document(file, "mail")


def _document(file: File, form: Form) -> Iterator[Item]:
    found = _read(file, form)
    if isinstance(found, Failure):
        yield found
        return
    if found.plain:
        yield from text.document(file, found.loader, found.title, split(paragraphs(found.text)), found.text)
    else:
        yield from markdown.written(file, found.text, found.loader, found.title)
    kind = Skipped if form == "mail" else Failure
    yield from (kind(file.name, fault, part=True) for fault in found.faults)


def _read(file: File, form: Form) -> Converted | Failure:
    if not find_spec(_LIBRARIES[form]):
        return Failure(file.name, f"{WHAT[form]}, which needs more to be read: {EXTRA}")
    data = file.stream.read(MOST + 1)
    if len(data) > MOST:
        return Failure(file.name, f"a document of more than {MOST // 2**20} MiB")
    try:
        return converter.shared.convert(form, data)
    except NothingError as error:
        return Skipped(file.name, str(error))
    except UnusableError as error:
        return Failure(file.name, str(error))
