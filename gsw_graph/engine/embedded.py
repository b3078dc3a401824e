"""The embedded engine: ArcadeDB in a child process that speaks Bolt on the loopback interface."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import queue
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from gsw_graph.concurrency import FairLock
from gsw_graph.cypher import file_of
from gsw_graph.engine import Connection, embedded_folder, open_driver, readonly
from gsw_graph.engine.address import LOG
from gsw_graph.engine.embedded_child import DATABASE
from gsw_graph.errors import EngineError, MemoryLockedError
from gsw_graph.values import Fields, single_spaced
from gsw_graph.version import FOLDER

if TYPE_CHECKING:
    from gsw_graph.config import Settings

USER = "root"
_SCHEMA_SECONDS = 3600  # an index built over a large memory takes minutes
START_SECONDS = 120  # a large memory after kill -9 replays its log first
STOP_SECONDS = 70
# What Python, Java and the test coverage need of the environment: no key and no password of other services.
_NEEDED = re.compile(
    r"PATH|HOME|USERPROFILE|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH|DYLD_\w+|JAVA_HOME|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS"
    r"|VIRTUAL_ENV|PYTHON(?!PATH)\w+|XDG_CACHE_HOME|LOCALAPPDATA|APPDATA|COVERAGE_\w+|COV_CORE_\w+|ARCADEDB_\w+",
    re.IGNORECASE,
)
# On Windows: Ctrl-C is for the parent alone, and no window opens.
OWN_WINDOW = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
_COMMENTS = re.compile(r"\A(?:\s|--[^\n]*)+")  # which its SQL does not know


def connect(settings: Settings, meanwhile: Callable[[], None] | None = None) -> Connection:
    """Start the engine on the folder `settings.memory` and connect to it; `close()` ends it."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        raise EngineError(
            "the embedded engine is not installed (there is no arcadedb-embedded for this platform?)",
            hint="Use a Neo4j server: --memory bolt://localhost:7687, or start one with gswgraph db start",
        )
    folder = embedded_folder.prepare(Path(settings.memory))
    process = EngineProcess(
        folder, settings.cache_dir.absolute() / "embedded", meanwhile, settings.engine_heap
    )
    try:
        url = f"bolt://127.0.0.1:{process.ready['bolt']}"
        auth = (USER, embedded_folder.read_password(folder))
        driver = open_driver(url, auth, connection_timeout=10)
    except BaseException:
        process.stop()
        raise
    return Connection(driver, DATABASE, EmbeddedDialect(process), str(folder), process.stop, FairLock())


class EmbeddedDialect:
    """Use ArcadeDB: its own languages make the schema, and its own parser tells reads from writes, both in
    its process."""

    name = "arcadedb"

    def __init__(self, process: EngineProcess, database: str = DATABASE) -> None:
        self.version: str = process.ready["version"]
        self._process, self._database = process, database

    def run_schema(self, ddl: str) -> None:
        """Run one DDL statement of `cypher/`, in SQL or in Cypher."""
        sql = (file_of(ddl) or "").endswith(".sql")
        text, language = (_COMMENTS.sub("", ddl), "sql") if sql else (ddl, "opencypher")
        command = {"command": text, "language": language, "database": self._database}
        answer = self._process.ask(command, _SCHEMA_SECONDS)
        if "failed" in answer:
            where = single_spaced(text)[:120]
            raise EngineError(f"the engine refused a statement: {answer['failed']}", where=where)

    def wait_online(self, timeout: float) -> None:
        """Indexes answer as soon as they exist."""

    def read_only_violation(self, query: str) -> str | None:
        """Return what a query does beyond reading the memory, by the engine's parser and by the words of the
        query. The query does not run."""
        if readonly.asks_server(query):
            return None
        if "PROFILE" in readonly.preamble(query):
            return "PROFILE runs the query"
        if objection := readonly.read_only_violation(query):
            return objection
        if name := readonly.unknown_to_embedded(query):
            return f"the query runs {name}, which is not known to only read the memory"
        analysis = self._process.ask({"analyze": query.strip().removesuffix(";"), "database": self._database})
        if "failed" in analysis:
            raise EngineError(f"the engine cannot read the query: {analysis['failed']}")
        if analysis["reads"] is True and set(analysis["operations"]) <= {"READ"}:
            return None
        return "the query may change the memory or disturb others"


class EngineProcess:
    """Run a child process of the engine. `ready` has its Bolt port and its version. `meanwhile` is called
    once while it starts."""

    def __init__(
        self,
        folder: Path,
        cache: Path,
        meanwhile: Callable[[], None] | None = None,
        heap: str | None = None,
    ) -> None:
        self._folder, self._cache, self._heap = folder, cache, heap or heap_size()
        self._pid = os.getpid()
        self._asking, self._asked = threading.Lock(), 0
        self._start()
        try:
            import neo4j  # noqa: F401 - takes half a second, and the child needs longer

            if meanwhile is not None:
                meanwhile()
            word = self._word(START_SECONDS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                if not word and self._process.wait(timeout=5):  # killed, or a crash of Java: once more
                    self._end()
                    self._start()
                    word = self._word(START_SECONDS)
        except BaseException:  # Ctrl-C too
            self._end()
            raise
        if "ready" not in word:
            self._end()
            raise self._error(word)
        self.ready: Fields = word["ready"]
        atexit.register(self.stop)

    def ask(self, question: Fields, seconds: float = START_SECONDS) -> Fields:
        """Return the child's answer to a question of `embedded_child.answer`."""
        with self._asking:
            self._asked += 1
            with contextlib.suppress(OSError, ValueError):  # it has ended, or is closed
                line = json.dumps({**question, "number": self._asked}).encode() + b"\n"
                self._process.stdin.write(line)
            answer = self._word(seconds)
            while answer and answer.get("number", self._asked) != self._asked:  # to one that Ctrl-C ended
                answer = self._word(seconds)
        if not answer or "stopped" in answer:
            raise EngineError(
                "the memory is closed" if self._stopped else "the embedded engine has ended",
                where=str(self._folder),
                hint="Open it again",
            )
        return answer

    def stop(self) -> None:
        """Stop the engine and wait until the folder is free. Does nothing in a forked copy of the parent,
        nor the second time."""
        if os.getpid() != self._pid or self._stopped:
            return
        atexit.unregister(self.stop)
        with self._asking:
            self._end()

    def _end(self) -> None:
        process, stdin = self._process, self._process.stdin
        self._stopped = True
        with contextlib.suppress(OSError, ValueError):
            stdin.write(b"\n")  # a forked copy may hold the pipe open, so do not only close it
        with contextlib.suppress(OSError):
            stdin.close()
        word = self._word(STOP_SECONDS)
        while "ready" in word or "number" in word:  # nobody had read that yet
            word = self._word(STOP_SECONDS)
        if "stopped" in word:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        else:
            for end in (process.terminate, process.kill):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0 if word else 5)
                    break
                end()
            process.wait()
        process.stdout.close()

    def _start(self) -> None:
        self._process, self._stopped = self._spawn(), False
        self._lines = self._listen(self._process.stdout)

    def _spawn(self) -> Any:
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = [FOLDER]  # the child's working folder is another one
        path += [Path(entry).absolute() for entry in given if entry]
        environment = {name: value for name, value in os.environ.items() if _NEEDED.fullmatch(name)}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
        environment["PYTHONSAFEPATH"] = "1"  # and no place for modules
        environment["PYTHONUTF8"] = "1"  # the folder has the same bytes in every locale
        command = [sys.executable, "-m", "gsw_graph.engine.embedded_child"]
        ours = single_spaced(shlex.join(sys.orig_argv))[:200]
        with (self._folder / LOG).open("ab") as log:
            return subprocess.Popen(
                [*command, str(self._folder), self._heap, str(self._cache), str(self._pid), ours],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                env=environment,
                bufsize=0,
                start_new_session=True,  # Ctrl-C in the terminal is for the parent
                creationflags=OWN_WINDOW,
            )

    @staticmethod
    def _listen(stream: IO[bytes]) -> queue.SimpleQueue[bytes]:
        """Return the lines of a child as they come, an empty one at its end. A thread, because Windows cannot
        wait for a pipe with a time limit."""
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

        def listen() -> None:
            with contextlib.suppress(OSError, ValueError):  # closed
                while line := stream.readline():
                    lines.put(line)
            lines.put(b"")

        threading.Thread(target=listen, name="gswgraph-engine", daemon=True).start()
        return lines

    def _word(self, seconds: float) -> Fields:
        """Return the next line of the child, `{}` where it has ended or hangs."""
        try:
            line = self._lines.get(timeout=seconds)
            if not line:
                self._lines.put(line)  # for who waits next: nothing comes after the end
            word = json.loads(line or b"{}")
        except (queue.Empty, ValueError):
            return {}
        return word if isinstance(word, dict) else {}

    def _error(self, word: Fields) -> EngineError:
        where = str(self._folder)
        if "locked" in word:
            holder = word["locked"]
            who = f"pid {holder['pid']}: {holder['command']}" if holder else "which did not say its name"
            return MemoryLockedError(
                f"another process has this memory open ({who})",
                where=where,
                hint="Wait until it ends, or have it shared: gswgraph serve, or a server (gswgraph db start)",
            )
        lines = (self._folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
        code = self._process.returncode  # 0: it ran, and ended when it was told to
        status = f"its process ended with {code}" if code else f"it was not ready in {START_SECONDS} s"
        reason = word.get("failed") or " | ".join([*map(str.strip, lines[-5:]), status])
        return EngineError(
            f"the embedded engine did not start: {reason}",
            where=where,
            hint=f"Its log is {self._folder / LOG}",
        )


def heap_size() -> str:
    """Return the most Java heap an engine may take: a quarter of the memory, 512 MB to 4 GB. It grows as
    needed; 1 GB serves 90,000 vectors."""
    megabytes = 4096
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no sysconf on Windows
        megabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    with contextlib.suppress(OSError, ValueError):  # a container's own limit
        megabytes = min(megabytes, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")) >> 20)
    return f"{min(max(megabytes // 4, 512), 4096)}m"
