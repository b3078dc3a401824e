"""PDF, HTML, Word, PowerPoint, Excel and EPUB to Markdown, or plain text (PDF). Runs in a child process
(`converter_child`), as a hostile file may take any time and memory, or bring its reader down."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gsw_graph.loaders.documents import archives, mail, office, pdf, web
from gsw_graph.loaders.documents.archives import UnusableError
from gsw_graph.loaders.workspaces.parts import LISTED

Form: TypeAlias = Literal["pdf", "html", "archive", "mail"]

WHAT: dict[Form, str] = {
    "pdf": "a PDF file",
    "html": "an HTML page",
    "archive": "an Office document, EPUB book or zip archive",
    "mail": "a mail",
}

# What no text has, and documents have all the same.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a document, the title that it has of its own ("" for none), what it was (`pdf`, `docx`
    ...), which parts of it could not be read, and whether the text is plain, without marks of Markdown."""

    text: str
    title: str
    loader: str
    faults: tuple[str, ...] = ()
    plain: bool = False


def convert(form: Form, data: bytes) -> Converted:
    """What a document says. Raises UnusableError for whatever is wrong with it, and MemoryError."""
    faults: list[str] = []
    try:
        text, title, loader, plain = _read(form, data, faults)
    except (UnusableError, MemoryError):
        raise
    except RecursionError as error:
        raise UnusableError(f"{WHAT[form]} that is nested too deeply") from error
    except Exception as error:  # every library has its own kinds for a broken file
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        why = (
            f"{WHAT[form]} that is broken, or of a kind that is not understood "
            f"({type(error).__name__}: "
            f"{reason[:200]})"
        )
        raise UnusableError(why) from error
    if not (text := _NO_TEXT.sub("", text).strip()):
        raise UnusableError(f"{WHAT[form]} without text")
    more = [f"and {len(faults) - LISTED} more faults, or more"] if len(faults) > LISTED else []
    return Converted(text, _NO_TEXT.sub("", title), loader, (*faults[:LISTED], *more), plain)


def _read(form: Form, data: bytes, faults: list[str]) -> tuple[str, str, str, bool]:
    if form == "pdf":
        return *pdf.text_of(data), "pdf", True
    if form == "html":
        return *web.markdown(data), "html", False
    if form == "mail":
        text, title, plain = mail.text_of(data, faults)
        return text, title, "mail", plain
    kind, parts = archives.unpacked(data)
    return *office.markdown(kind, parts, faults), kind, False
