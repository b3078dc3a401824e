"""PDF, HTML, Word, PowerPoint, Excel and EPUB: the extra `documents`. Each becomes Markdown, or plain text (PDF), and is then read as such.

Nothing is fetched and nothing in a document runs. What a document may cost is bounded: the bytes of the file, and those that it unpacks to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from gsw_graph.loaders import archives, markdown, office, pdf, text, web
from gsw_graph.loaders.archives import UnusableError
from gsw_graph.loaders.encoding import EXTRA
from gsw_graph.loaders.files import File, Item
from gsw_graph.loaders.split import paragraphs, split
from gsw_graph.model import Failure

MOST = 256 * 1024 * 1024
"""Bytes of a file, of which most are pictures where it is large."""

# What no text has, and documents have all the same.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def read_pdf(file: File) -> Iterator[Item]:
    """The document of a PDF file, or the failure that keeps it out."""
    found = _read(file, "a PDF file", "pypdfium2", pdf.text_of)
    if isinstance(found, Failure):
        yield found
    else:
        body, title = found
        yield from text.document(file, "pdf", title or text.stem(file), split(paragraphs(body)), body)


def read_html(file: File) -> Iterator[Item]:
    """The document of a page."""
    yield from _markdown(file, "html", _read(file, "an HTML page", "markdownify", web.markdown))


def read_archive(file: File) -> Iterator[Item]:
    """The document of an Office document or a book, all of which are zip archives."""
    kind = ""

    def convert(data: bytes) -> tuple[str, str]:
        nonlocal kind
        kind, parts = archives.unpacked(data)
        return office.markdown(kind, parts)

    found = _read(file, "an Office document, EPUB book or zip archive", "mammoth", convert)
    yield from _markdown(file, kind, found)


def _markdown(file: File, loader: str, found: tuple[str, str] | Failure) -> Iterator[Item]:
    if isinstance(found, Failure):
        yield found
    else:
        yield from markdown.written(file, found[0], loader, found[1])


def _read(file: File, what: str, library: str, convert: Callable[[bytes], tuple[str, str]]) -> tuple[str, str] | Failure:
    """Text and title by a converter; whatever it finds wrong with one file is the failure of that file."""
    if not find_spec(library):
        return Failure(file.name, f"{what}, which needs more to be read: {EXTRA}")
    data = file.stream.read(MOST + 1)
    if len(data) > MOST:
        return Failure(file.name, f"a document of more than {MOST // 2**20} MiB")
    try:
        body, title = convert(data)
    except UnusableError as error:
        return Failure(file.name, str(error))
    except RecursionError:
        return Failure(file.name, f"{what} that is nested too deeply")
    except Exception as error:  # every library has its own kinds for a broken file
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        return Failure(file.name, f"{what} that is broken, or of a kind that is not understood ({type(error).__name__}: {reason[:200]})")
    body = _NO_TEXT.sub("", body).strip()
    return (body, _NO_TEXT.sub("", title)) if body else Failure(file.name, f"{what} without text")
