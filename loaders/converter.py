"""PDF, HTML, Word, PowerPoint, Excel, EPUB (the extra `documents`) and mail, read in a child process.

Each becomes Markdown, or plain text, and is then read as such. Nothing is fetched and nothing in a document
runs. What a document may cost is bounded: the bytes of the file, those that it unpacks to, and the time and
the memory of the child. One child serves all documents; one that dies or is stopped is one failed document,
and is replaced.

On the child's stdin come requests, a line of JSON `{"form", "length"}` and as many bytes of a document. For
each one on stdout goes a line of JSON, with the fields of `Converted`, or `{"failed": reason, "nothing":
whether it is no fault}`. It opens no connection and starts no program. It ends when stdin ends, which it does
with the parent, when a document takes too long, and when it would take more memory than it may.
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
from typing import Any, Literal, TypeAlias

from gsw_graph.loaders import markdown, office, pdf, text, web
from gsw_graph.loaders.files import (
    EXTRA,
    Converted,
    File,
    Item,
    NothingError,
    UnusableError,
    left_out,
    line_too_long,
    lines,
    shortened,
)
from gsw_graph.model.documents import Failure, Skipped

MOST = 256 * 1024 * 1024
"""Bytes of a file, of which most are pictures where it is large."""
MOST_TEXT = 64 * 1024 * 1024
"""Characters that a document may become; a small one may refer to one of its texts any number of times."""
MEMORY = 1 << 30
"""Bytes that the child may take, itself included (about 150 MB)."""
SECONDS = 60.0
"""For one document."""

Form: TypeAlias = Literal["pdf", "html", "archive", "mail"]

OUT_OF_MEMORY = 75
# What a form is called, the library that it needs, and what reads it.
_FORMS = {
    "pdf": ("a PDF file", "pypdfium2", pdf.read_pdf),
    "html": ("an HTML page", "markdownify", web.markdown),
    "archive": ("an Office document, EPUB book or zip archive", "mammoth", office.markdown),
    "mail": ("a mail", "email", web.read_mail),
}
# What no text has, and documents have all the same.
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_FORBIDDEN = tuple(
    "socket. subprocess. os.exec os.fork os.posix_spawn os.spawn os.startfile os.system".split()
)
_PROGRAM = "from gsw_graph.loaders.converter import main; main()"


def read(file: File, form: Form) -> Iterator[Item]:
    """Yield the document of a file, or the failure that keeps it out, and what was left out of it."""
    name, library, _ = _FORMS[form]
    if not find_spec(library):
        yield Failure(file.name, f"{name}, which needs more to be read: {EXTRA}")
        return
    data = file.stream.read(MOST + 1)
    if len(data) > MOST:
        yield Failure(file.name, f"a document of more than {MOST // 2**20} MiB")
    else:
        yield from _read_data(file, form, data)


def _read_data(file: File, form: Form, data: bytes, key: str = "") -> Iterator[Item]:
    try:
        contents = shared.convert(form, data)
    except UnusableError as error:
        yield (Skipped if isinstance(error, NothingError) else Failure)(file.name, str(error))
        return
    yield from (text if contents.plain else markdown).write(file, contents, key)
    kind = Skipped if form == "mail" else Failure
    yield from (kind(file.name, fault, part=True) for fault in contents.faults)
    yield from left_out(file.name, contents.left_out)


def read_mailbox(file: File) -> Iterator[Item]:
    """Yield the mails of a file of many; each is a document, named by its number."""
    number = size = 0
    held: list[bytes] = []
    blank = True
    for place, line in lines(file):
        begins = line is not None and blank and line.startswith(b"From ")
        if held and (begins or line is None or size > MOST):
            number += 1
            yield from _read_data(file, "mail", b"".join(held), str(number))
            held, size = [], 0
        if line is None:
            yield line_too_long(place)
        elif not begins:
            held.append(line.removeprefix(b">") if line.startswith(b">From ") else line)
            size, blank = size + len(line), not line.strip()
    if held:
        yield from _read_data(file, "mail", b"".join(held), str(number + 1))


# --- the parent ---


class Converter:
    """A child process that reads documents, one at a time, for all threads of this process. It is started
    when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    @property
    def pid(self) -> int | None:
        """The child's, where one runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def convert(self, form: Form, data: bytes) -> Converted:
        """Read a document. Raises UnusableError where nothing can be read of it within the bounds."""
        with self._lock:
            used = self._process is not None and self._owner == os.getpid()
            answer = self._ask(form, data)
            if answer is None and used:  # it may have died of what it read before
                answer = self._ask(form, data)
        if answer is None:
            raise UnusableError(
                f"{_FORMS[form][0]} that ended its reader: it is broken, or takes more than "
                f"{MEMORY >> 20:,} MiB of memory to read"
            )
        if "failed" in answer:
            raise (NothingError if answer["nothing"] else UnusableError)(str(answer["failed"]))
        return Converted(**{**answer, "left_out": Counter(answer["left_out"])})

    def stop(self) -> None:
        """End the child; the next document has a new one."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()

    def _ask(self, form: Form, data: bytes) -> dict[str, Any] | None:
        """Return the answer of the child; None where it died without one. Raises UnusableError where it was
        stopped."""
        if self._process is None or self._owner != os.getpid():
            self._owner, self._process = os.getpid(), _start()
        process = self._process
        started = time.monotonic()
        timer = threading.Timer(SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - for mypy
            process.stdin.write(json.dumps({"form": form, "length": len(data)}).encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline(6 * MOST_TEXT)
            if line.endswith(b"\n"):
                answer = json.loads(line)
                if isinstance(answer, dict) and ("failed" in answer or isinstance(answer.get("text"), str)):
                    return answer
        except (OSError, ValueError):  # it has ended, or says what it never says
            pass
        except BaseException:
            self.stop()  # interrupted: its answer would be taken for the next one's
            raise
        finally:
            timer.cancel()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        code, bound = process.returncode, ""
        self.stop()
        if time.monotonic() - started >= SECONDS:
            bound = f"{SECONDS:.0f} seconds"
        elif code == OUT_OF_MEMORY:
            bound = f"{MEMORY >> 20:,} MiB of memory"
        if bound:
            raise UnusableError(f"{_FORMS[form][0]} that takes more than {bound} to read")
        return None


def _start() -> subprocess.Popen[bytes]:
    import gsw_graph

    path = [str(Path(gsw_graph.__path__[0]).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    # without these some Pythons do not start
    kept = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
    environment = {  # nothing else: what reads hostile files has no keys and no passwords
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in path if entry),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(MEMORY), str(SECONDS + 1)],
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
    """Read a document. Raises UnusableError for whatever is wrong with it, and MemoryError."""
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
    contents.text, contents.title, contents.about = (
        _NO_TEXT.sub("", part).strip() for part in (contents.text, contents.title[:1000], contents.about)
    )
    if not contents.text:
        raise UnusableError(f"{name} without text")
    if len(contents.text) > MOST_TEXT:
        raise UnusableError(f"its text is longer than {MOST_TEXT // 2**20} million characters")
    contents.faults = [fault[:500] for fault in shortened(contents.faults)]
    return contents


def main() -> None:
    """Answer requests until the end."""
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit_memory(memory)
    sys.addaudithook(_forbid)
    warnings.simplefilter("ignore")  # of features that have no text
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
        answer = vars(convert(form, data))
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
    limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
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
