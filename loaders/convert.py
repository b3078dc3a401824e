"""The child process that reads documents; it is given the memory it may take and the seconds for a document.

PDF, HTML, Word, PowerPoint, Excel, EPUB and mail become Markdown, or plain text. A hostile file may take any
time and memory, or bring its reader down, so this is done apart; `converter` is the parent's side.

On stdin come requests, a line of JSON `{"form", "length"}` and as many bytes of a document. For each one on
stdout goes a line of JSON, with the fields of `Converted`, or `{"failed": reason, "nothing": whether it is no
fault}`. The child opens no connection and starts no program. It ends when stdin ends, which it does with the
parent, when a document takes too long, and when it would take more memory than it may.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal, TypeAlias

from gsw_graph.loaders import mail, office, pdf, web
from gsw_graph.loaders.files import Converted, NothingError, UnusableError, shortened

Form: TypeAlias = Literal["pdf", "html", "archive", "mail"]

WHAT: dict[Form, str] = {
    "pdf": "a PDF file",
    "html": "an HTML page",
    "archive": "an Office document, EPUB book or zip archive",
    "mail": "a mail",
}
OUT_OF_MEMORY = 75
_READERS = {"pdf": pdf.read_pdf, "html": web.markdown, "archive": office.markdown, "mail": mail.read_mail}
# What no text has, and documents have all the same.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
)


def convert(form: Form, data: bytes) -> Converted:
    """Read a document. Raises UnusableError for whatever is wrong with it, and MemoryError."""
    found = Converted(loader=form)
    try:
        _READERS[form](data, found)
    except RecursionError as error:
        raise UnusableError(f"{WHAT[form]} that is nested too deeply") from error
    except Exception as error:  # every library has its own kinds for a broken file
        if isinstance(error, UnusableError | MemoryError):
            raise
        reason = next(iter(str(error).strip().splitlines()), "")
        raise UnusableError(
            f"{WHAT[form]} that is broken, or of a kind that is not understood ({type(error).__name__}: "
            f"{reason[:200]})"
        ) from error
    found.text, found.title, found.about = (
        _NO_TEXT.sub("", part).strip() for part in (found.text, found.title[:1000], found.about)
    )
    if not found.text:
        raise UnusableError(f"{WHAT[form]} without text")
    found.faults = shortened(found.faults)
    return found


def main() -> None:
    """Answer requests until the end."""
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit_memory(memory)
    sys.addaudithook(_forbid)
    while line := source.readline():
        request = json.loads(line)
        # the process ends then, whatever it does and though its parent be gone
        faulthandler.dump_traceback_later(seconds, exit=True)
        try:
            answer = _answer(request["form"], source.read(request["length"]))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what is left of it serves nobody
        faulthandler.cancel_dump_traceback_later()
        answers.write(answer + b"\n")
        answers.flush()
        if _size() > memory * 3 // 4:  # the next document shall have all of it
            return


def _answer(form: Form, data: bytes) -> bytes:
    try:
        found = convert(form, data)
        answer = {**vars(found), "faults": [fault[:500] for fault in found.faults]}
    except UnusableError as error:
        answer = {"failed": str(error)[:2000], "nothing": isinstance(error, NothingError)}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    try:
        resource.setrlimit(
            resource.RLIMIT_AS, (memory if hard == resource.RLIM_INFINITY else min(memory, hard), hard)
        )
    except (ValueError, OSError):  # macOS
        threading.Thread(target=_watch_memory, args=(memory,), daemon=True).start()


def _watch_memory(memory: int) -> None:
    import resource

    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < memory:
        time.sleep(0.25)
    os._exit(OUT_OF_MEMORY)


def _size() -> int:
    """Return the bytes of the address space, which is what is limited; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _forbid(event: str, _: tuple[Any, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a document made its reader ask for {event}")
