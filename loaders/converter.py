"""PDF, HTML, Word, PowerPoint, Excel, reStructuredText (extra `documents`) and mail, read in a child process.

Each becomes Markdown, or plain text, and is then read as such. Nothing is fetched and nothing in a document
runs. What a document may cost is bounded: the bytes of the file, those that it unpacks to, and the time and
the memory of the child. One child serves all documents; one that dies or is stopped is one failed document,
and is replaced.

On the child's stdin come requests, a line of JSON `{"form", "length", "seconds"}` and as many bytes of a
document. For each one on stdout goes a line of JSON, with the fields of `Converted`, or `{"failed": reason,
"nothing": whether it is no fault}`. It opens no connection and starts no program. It ends when stdin ends,
which it does with the parent, when a document takes too long, and when it would take more memory than it may.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, cast

from gsw_graph.loaders import mail, markdown, office, text, web
from gsw_graph.loaders.files import (
    EXTRA,
    Converted,
    File,
    Items,
    NothingError,
    UnusableError,
    left_out,
    line_too_long,
    lines,
    shortened,
)
from gsw_graph.model.documents import Failure, Skipped
from gsw_graph.values import Fields
from gsw_graph.version import FOLDER

MOST = 256 * 1024 * 1024
"""Bytes of a file, of which most are pictures where it is large."""
MOST_TEXT = 64 * 1024 * 1024
"""Characters that a document may become; a small one may refer to one of its texts any number of times."""
MEMORY = 1 << 30
"""Bytes that the child may take, itself included (about 150 MB)."""
SECONDS = 60.0
"""For one document."""

Form: TypeAlias = Literal["pdf", "html", "archive", "mail", "rst"]


def reads_restructured() -> bool:
    """Tell whether the libraries that read reStructuredText are installed."""
    return bool(find_spec("docutils") and find_spec("markdownify"))


def _read_pdf(data: bytes, contents: Converted) -> None:
    from gsw_graph.loaders import pdf  # needs the extra

    pdf.read_pdf(data, contents)


def _read_restructured(data: bytes, contents: Converted) -> None:
    from gsw_graph.loaders import restructured  # needs the extra

    restructured.markdown(data, contents)


# What a form is called, the library that it needs, and what reads it.
_FORMS = {
    "pdf": ("a PDF file", "pypdfium2", _read_pdf),
    "html": ("an HTML page", "markdownify", web.markdown),
    "archive": ("an Office document or zip archive", "mammoth", office.markdown),
    "mail": ("a mail", "email", mail.read_mail),
    "rst": ("a reStructuredText file", "docutils", _read_restructured),
}
# What no text has, and documents have all the same.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_HEADER = re.compile(rb"[!-9;-~]{1,80}:")
_FORBIDDEN = tuple(
    "socket. subprocess. os.exec os.fork os.posix_spawn os.spawn os.startfile os.system".split()
)
_PROGRAM = "from gsw_graph.loaders.converter import main; main()"


def read(file: File, form: Form) -> Items:
    """Yield the document of a file, and the omissions. Raises UnusableError if there is no document."""
    name, library, _ = _FORMS[form]
    if not find_spec(library):
        raise UnusableError(f"{name}, which needs more to be read: {EXTRA}")
    data = file.stream.read(MOST + 1)
    if len(data) > MOST:
        raise UnusableError(f"a document of more than {MOST // 2**20} MiB")
    yield from _read_data(file, form, data)


def _read_data(file: File, form: Form, data: bytes, key: str = "") -> Items:
    contents = shared.convert(form, data)
    yield from (text if contents.plain else markdown).write(file, contents, key)
    kind = Skipped if form == "mail" else Failure
    for fault in contents.faults:
        yield kind(file.name, fault, part=True)
    yield from left_out(file.name, contents.left_out)


def read_mailbox(file: File) -> Items:
    """Yield the mails of a file of many; each is a document, named by its number."""
    for number, (place, data) in enumerate(_mails(file), 1):
        try:
            if data is None:
                raise line_too_long(place)
            yield from _read_data(file, "mail", data, str(number))
        except UnusableError as error:
            yield error.failure(file.name)


def _mails(file: File) -> Iterator[tuple[str, bytes | None]]:
    """Yield the bytes of each mail with its place, None for a line that is too long."""
    mail: list[bytes] = []
    blank, size = True, 0
    held: bytes | None = None  # a line that begins a mail if the next one is a header
    for place, line in lines(file):
        if held is not None:
            if line is not None and _HEADER.match(line):
                if mail:
                    yield place, b"".join(mail)
                mail, size = [], 0
            else:
                mail.append(held)
            held, blank = None, False
        if line is None or size > MOST:
            yield from [(place, b"".join(mail))] if mail else []
            mail, size = [], 0
        if line is None:
            yield place, None
        elif blank and line.startswith(b"From "):
            held = line
        else:
            mail.append(line.removeprefix(b">") if line.startswith(b">From ") else line)
            size, blank = size + len(line), not line.strip()
    if held is not None:
        mail.append(held)
    if mail:
        yield file.name, b"".join(mail)


# --- the parent ---


class Converter:
    """A child process that reads documents, one at a time, for all threads of this process. It is started
    when it is needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def convert(self, form: Form, data: bytes) -> Converted:
        """Read a document. Raises UnusableError where nothing can be read of it within the bounds."""
        with self._lock:
            used = self.process is not None and self._owner == os.getpid()
            start = time.monotonic()
            answer = self._ask(form, data)
            late = time.monotonic() - start >= SECONDS
            if answer is None and used and not late:  # it may have died of what it read before
                answer = self._ask(form, data)
        if answer is None:
            reason = (
                f"ended its reader: it is broken, or takes more than {MEMORY >> 20:,} MiB of memory to read"
            )
            if late:
                reason = f"takes more than {SECONDS:.0f} seconds to read"
            raise UnusableError(f"{_FORMS[form][0]} that {reason}")
        if "failed" in answer:
            error = NothingError if answer["nothing"] else UnusableError
            raise error(answer["failed"])
        answer["left_out"] = Counter(answer["left_out"])
        return Converted(**answer)

    def stop(self) -> None:
        """End the child; the next document has a new one."""
        process, self.process = self.process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()

    def _ask(self, form: Form, data: bytes) -> Fields | None:
        """Return the answer of the child; None where it ended without one."""
        if self.process is None or self._owner != os.getpid():
            self._owner, self.process = os.getpid(), _start()
        request = {"form": form, "length": len(data), "seconds": SECONDS}
        stdin, stdout = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        try:
            stdin.write(json.dumps(request).encode() + b"\n" + data)
            stdin.flush()
            answer = json.loads(stdout.readline(6 * MOST_TEXT))
            if "failed" in answer or "text" in answer:
                return dict(answer)
        except (OSError, ValueError):  # it has ended, or says what it never says
            pass
        except BaseException:
            self.stop()  # interrupted: its answer would be taken for the next one's
            raise
        self.stop()
        return None


def _start() -> subprocess.Popen[bytes]:
    path = [str(FOLDER), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    # without these some Pythons do not start
    needed = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
    environment = {  # nothing else: what reads hostile files has no keys and no passwords
        **{name: os.environ[name] for name in needed if name in os.environ},
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(sys.executable).anchor,  # not where documents are
        env=environment,
        start_new_session=True,  # Ctrl-C in the terminal is for the parent
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


shared = Converter()
atexit.register(shared.stop)


# --- the child ---


def convert(form: Form, data: bytes) -> Converted:
    """Convert a document. Raises UnusableError if nothing can be read within the bounds."""
    contents = Converted(loader=form)
    name, _, read_form = _FORMS[form]
    try:
        read_form(data, contents)
    except (UnusableError, MemoryError):
        raise
    except RecursionError as error:
        raise UnusableError(f"{name} that is nested too deeply") from error
    except Exception as error:  # every library has its own kinds for a broken file
        reason = next(iter(str(error).strip().splitlines()), "")
        raise UnusableError(
            f"{name} that is broken, or of a kind that is not understood ({type(error).__name__}: "
            f"{reason[:200]})"
        ) from error
    contents.text = _NO_TEXT.sub("", contents.text).strip()
    contents.title = _NO_TEXT.sub("", contents.title[:1000]).strip()
    contents.about = _NO_TEXT.sub("", contents.about).strip()
    if not contents.text:
        raise UnusableError(f"{name} without text")
    if len(contents.text) > MOST_TEXT:
        raise UnusableError(f"its text is longer than {MOST_TEXT // 2**20} million characters")
    contents.faults = [fault[:500] for fault in shortened(contents.faults)]
    return contents


def main() -> None:
    """Answer requests until the end."""
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit_memory(int(sys.argv[1]))
    sys.addaudithook(_forbid)
    warnings.simplefilter("ignore")  # of features that have no text
    while line := source.readline():
        request = json.loads(line)
        # the process ends then, whatever it does and though its parent be gone
        faulthandler.dump_traceback_later(request["seconds"], exit=True)
        try:
            answer = vars(convert(request["form"], source.read(request["length"])))
        except UnusableError as error:
            answer = {"failed": str(error)[:2000], "nothing": isinstance(error, NothingError)}
        except MemoryError:
            os._exit(1)  # what is left of it serves nobody
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        answers.flush()


def _limit_memory(memory: int) -> None:
    with contextlib.suppress(
        ImportError, ValueError, OSError
    ):  # Windows and macOS, or no more is allowed anyway
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _forbid(event: str, _: tuple[Any, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a document made its reader ask for {event}")
