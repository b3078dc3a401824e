"""PDF to text with PDFium, which browsers read hostile files with: no scripts run, no links are followed."""

from __future__ import annotations

import re
import threading
from typing import Any

from gsw_graph.loaders.documents.archives import UnusableError

MOST = 64 * 1024 * 1024
"""Characters of a PDF's text."""

# PDFium is not made for several threads.
_LOCK = threading.Lock()
# What PDFium gives for the hyphen of a word that goes on in the next line.
_HYPHEN = re.compile("[\ufffe\x02]\n?")
_PASSWORD = 4


def text_of(data: bytes) -> tuple[str, str]:
    """The text, pages on lines of their own, and the title that its properties give it, where its first
    page shows it too. Raises UnusableError."""
    import pypdfium2
    from pypdfium2 import PdfiumError

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except PdfiumError as error:
            locked = getattr(error, "err_code", None) == _PASSWORD
            raise UnusableError(
                "locked with a password: save it without one" if locked else "a broken PDF file"
            ) from error
        try:
            return _read(document)
        finally:
            document.close()


def _read(document: Any) -> tuple[str, str]:
    from pypdfium2 import PdfiumError

    pages: list[str] = []
    left = MOST
    for number in range(len(document)):
        try:
            page = document[number]
            text_page = page.get_textpage()
            text = text_page.get_text_range()
            text_page.close()
            page.close()
        except PdfiumError as error:
            raise UnusableError(
                f"a broken PDF file: page {number + 1} of {len(document)} cannot be read"
            ) from error
        pages.append(_HYPHEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip())
        left -= len(text)
        if left < 0:
            raise UnusableError(f"its text is longer than {MOST // 2**20} million characters")
    if not any(pages):
        raise UnusableError(
            f"a PDF file of {len(pages)} pages without text, as scans are: run a text recognition (OCR) "
            "over it first"
        )
    title = " ".join((document.get_metadata_value("Title") or "").split())
    return "\n".join(page for page in pages if page), title if title and title.casefold() in " ".join(
        pages[0].casefold().split()
    ) else ""
