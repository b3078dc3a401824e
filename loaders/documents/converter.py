"""The parent's side of the child process that reads documents: one, which starts with the first document,
serves them all, and is replaced when it dies.

What a document may cost is bounded: the memory of the child, its time, and what it says. A child that dies
or is stopped is one failed document.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from gsw_graph.loaders.documents import pdf
from gsw_graph.loaders.documents.archives import NothingError, UnusableError
from gsw_graph.loaders.documents.convert import WHAT, Converted, Form
from gsw_graph.loaders.documents.converter_child import OUT_OF_MEMORY

MEMORY = 1 << 30
"""Bytes that the child may take, itself included (about 150 MB)."""
SECONDS = 60.0
"""For one document."""
_LINE = 256 * 1024  # bytes: its parts are cut, and a character takes up to 12
_MOST = 4 * pdf.MOST  # bytes of a text, in UTF-8


class Converter:
    """A child process that reads documents, one at a time, for all threads of this process. It is started
    when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    @property
    def pid(self) -> int | None:
        """Of the child, where one runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def convert(self, form: Form, data: bytes) -> Converted:
        """What a document says. Raises UnusableError where nothing can be read of it within the bounds."""
        with self._lock:
            used = self._running()
            found = self._asked(form, data)
            if found is None and used:  # it may have died of what it read before, or of having nothing to do
                found = self._asked(form, data)
        if found is None:
            raise UnusableError(
                f"{WHAT[form]} that ended its reader: it is broken, or takes more than {MEMORY >> 20:,} "
                "MiB of memory to read"
            )
        return found

    def stop(self) -> None:
        """End the child; the next document has a new one."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    _pipe(pipe).close()

    def _running(self) -> bool:
        return self._process is not None and self._owner == os.getpid()

    def _asked(self, form: Form, data: bytes) -> Converted | None:
        """The answer of the child; None where it died without one. Raises UnusableError where it was
        stopped, or says that nothing can be read."""
        if not self._running():
            self._owner, self._process = os.getpid(), _start()
        process = self._process
        assert process is not None  # noqa: S101 - for mypy
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(SECONDS, stop)
        timer.daemon = True
        timer.start()
        try:
            found = _conversation(_pipe(process.stdin), _pipe(process.stdout), form, data)
        except (OSError, ValueError, KeyError, TypeError):  # it has ended, or says what it never says
            found = None
        except UnusableError:
            timer.cancel()
            raise
        except BaseException:
            self.stop()  # interrupted: its answer would be taken for the next one's
            raise
        finally:
            timer.cancel()
        if found is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            code = process.returncode
            self.stop()
            if late.is_set():
                raise UnusableError(f"{WHAT[form]} that takes more than {SECONDS:.0f} seconds to read")
            if code == OUT_OF_MEMORY:
                raise UnusableError(
                    f"{WHAT[form]} that takes more than {MEMORY >> 20:,} MiB of memory to read"
                )
        return found


def _conversation(stdin: IO[bytes], stdout: IO[bytes], form: Form, data: bytes) -> Converted | None:
    stdin.write(json.dumps({"form": form, "length": len(data)}).encode() + b"\n")
    stdin.write(data)
    stdin.flush()
    word = json.loads(stdout.readline(_LINE))
    if "failed" in word:
        raise (NothingError if word["nothing"] else UnusableError)(str(word["failed"]))
    length = int(word["length"])
    if not 0 < length <= _MOST:
        raise ValueError(length)
    text = stdout.read(length)
    faults = tuple(map(str, word["faults"]))
    return (
        Converted(text.decode("utf-8"), str(word["title"]), str(word["loader"]), faults, bool(word["plain"]))
        if len(text) == length
        else None
    )


def _start() -> subprocess.Popen[bytes]:
    import gsw_graph

    path = [
        str(Path(gsw_graph.__path__[0]).parent),
        *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)),
    ]
    environment = {  # nothing else: what reads hostile files has no keys and no passwords
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    for name in ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME"):
        if name in os.environ:  # without it some Pythons do not start
            environment[name] = os.environ[name]
    return subprocess.Popen(
        [sys.executable, "-m", "gsw_graph.loaders.documents.converter_child", str(os.getpid()), str(MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(sys.executable).anchor,  # not where documents are
        env=environment,
        start_new_session=True,  # Ctrl-C in the terminal is for the parent
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - for mypy: both are pipes
    return stream


shared = Converter()
atexit.register(shared.stop)
