"""The child process of the embedded engine: `python -m gsw_graph.engine.embedded_child FOLDER HEAP CACHE
PARENT_PID COMMAND`.

Stdout carries one line of JSON that says how the start went, then one for each question asked on stdin (see
`answer`); all else goes to stderr, which the parent sends to a file. The child ends when stdin ends, when its
parent dies, or on SIGTERM. The engine lives here and not in the parent, because a JVM inside it would crash
on SIGTERM and hang at exit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import locale
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gsw_graph.engine.embedded_folder import FolderLock, read_password

DATABASE = "gsw"
# Only a last resort against a runaway statement: the first vector query after a bulk load builds the index's
# graph inside the query, and
# that takes minutes from 100,000 vectors on.
COMMAND_TIMEOUT_MS = 3_600_000
MESSAGE_BYTES = 128 << 20  # with Bolt's default of 16 MiB the client hangs on a larger message
STOP_SECONDS = 60
UTF8_LOCALES = ("C.UTF-8", "C.utf8", "en_US.UTF-8")  # that systems have
_HTTP_PORTS = "24080-28079"  # the engine takes the first that is free; nobody asks it there
_REHEARSAL_SECONDS = 180
Rehearse = Callable[[Path, str, list[str]], None]  # memory, heap, arguments of Java


def main(arguments: list[str]) -> None:
    """Start the engine, say so, answer until the end, stop."""
    os.umask(0o077)  # Java makes files that all may write where the mask says nothing
    folder, heap, cache_folder, command = Path(arguments[0]), arguments[1], Path(arguments[2]), arguments[4]
    parent = int(arguments[3])
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the JVM prints belongs into the log

    def say(message: dict[str, Any]) -> None:
        output.write(json.dumps(message) + "\n")  # at once: another thread may have something to say
        output.flush()

    lock = FolderLock(folder)
    holder = lock.acquire({"pid": parent, "command": command})
    if holder is not None:
        say({"locked": holder})
        return
    if sys.stderr.seekable():
        os.ftruncate(2, 0)  # the log of this session only
    end = threading.Event()
    running: list[Any] = []

    def stop() -> None:
        lock.announce_stop()
        end.set()

    def reply(question: dict[str, Any]) -> None:
        say({**answer(running[0], question), "number": question.get("number")})

    def listen() -> None:
        for line in sys.stdin.buffer:
            if not line.strip():
                break
            # One that takes long must not keep the end from being heard.
            threading.Thread(target=reply, args=(json.loads(line),), daemon=True).start()
        stop()

    def watch() -> None:
        while os.getppid() == parent:  # a fork of the parent may keep stdin open after the parent's death
            time.sleep(1)
        stop()

    for task in (listen, watch) if os.name == "posix" else (listen,):
        threading.Thread(target=task, daemon=True).start()
    server, failed = None, False
    try:
        server, ports = start_server(folder, heap, jvm_arguments(cache_folder))
        running.append(server)
        server.create_database(DATABASE)  # or opens it
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop())
        say({"ready": ports})
        end.wait()
    except Exception as error:
        failed = True
        traceback.print_exc()
        with contextlib.suppress(OSError):  # the parent is gone
            say({"failed": " ".join(str(error).split())[:500]})
    finally:
        lock.announce_stop()
        threading.Thread(target=_give_up, daemon=True).start()
        if server is not None:
            server.stop()
            # of an engine that did not start it ends with the process: what that had opened is not known
            lock.release()
    if failed:
        os._exit(1)  # threads of a Java that half started would keep it
    record_aside(cache_folder, heap)
    say({"stopped": True})
    os._exit(0)  # open Bolt connections are threads of the JVM that would block a normal exit


def use_utf8_locale() -> None:
    """Choose a locale in which Java can name every file: it takes the encoding of names from the locale, and
    with LC_ALL=C, or with a locale that is not installed, it knows ASCII alone."""
    if os.name != "posix":
        return
    for name in ("", *UTF8_LOCALES):
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            if locale.nl_langinfo(locale.CODESET).upper() in ("UTF-8", "UTF8"):
                if name:
                    os.environ["LC_ALL"] = name
                return


def start_server(folder: Path, heap: str, more_jvm_args: list[str]) -> tuple[Any, dict[str, Any]]:
    """Start the engine on a prepared folder; return it, with its Bolt port and version."""
    import arcadedb_embedded
    import jpype
    from arcadedb_embedded.server import ArcadeDBServer

    use_utf8_locale()
    os.environ.setdefault("ARCADEDB_JVM_ERROR_FILE", str(folder / "hs_err.log"))
    config = {
        "host": "127.0.0.1",
        "http_port": _HTTP_PORTS,
        "bolt_port": 0,
        "mode": "development",  # "production" keeps the reason of every error from the client
        "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
    }
    jvm_args = [
        "-XX:+UseSerialGC",
        # An engine without memory is of no use; the log then says why it ended.
        "-XX:+ExitOnOutOfMemoryError",
        *more_jvm_args,
        f"-Djava.util.logging.config.file={Path(__file__).with_name('quiet_logging.properties')}",
        f"-Darcadedb.command.timeout={COMMAND_TIMEOUT_MS}",
        f"-Darcadedb.bolt.maxMessageSize={MESSAGE_BYTES}",
        f"-Darcadedb.bolt.packstream.maxValueLength={MESSAGE_BYTES}",
        # A quicker start: nobody reads what is measured, and a random password needs no rounds against
        # guessing.
        "-Darcadedb.serverMetrics=false",
        "-Darcadedb.server.healthCheck.enabled=false",
        "-Darcadedb.server.saltIterations=1000",
    ]
    server = ArcadeDBServer(
        str(folder), read_password(folder), config, {"heap_size": heap, "jvm_args": jvm_args}
    )
    # All processors that this process may use, as Java counts them: the default leaves one to others, and a
    # load has none at that time.
    processors = jpype.JClass("java.lang.Runtime").getRuntime().availableProcessors()
    jpype.JClass("com.arcadedb.GlobalConfiguration").VECTOR_INDEX_GRAPH_BUILD_PARALLELISM.setValue(processors)
    server.start()
    bolt = next(
        plugin for plugin in server._java_server.getPlugins() if str(plugin.getName()) == "Neo4j-Bolt"
    )
    return server, {"bolt": int(bolt.getPort()), "version": arcadedb_embedded.__version__}


def answer(server: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Answer a question about a database, and make the database if there is none.

    Args:
        server: The engine.
        question: `{"analyze": query, "database": name}`: the effects of a query by the parser; or
            `{"command": text, "language": "sql" or "opencypher", "database": name}`: run it.

    Returns:
        `operations` and `reads`, or nothing; after a failure the reason as `failed`.
    """
    try:
        database = server.create_database(question["database"])._java_db
        if "command" in question:
            database.command(question["language"], question["command"])
            return {}
        analysis = database.getQueryEngine("opencypher").analyze(question["analyze"])
        operations = sorted(str(kind) for kind in analysis.getOperationTypes())
        return {"operations": operations, "reads": bool(analysis.isIdempotent())}
    except Exception as error:
        cause = getattr(error, "getCause", lambda: None)()  # as a rule the parser's own words
        messages = (getattr(it, "getMessage", lambda: None)() for it in (cause, error))
        return {"failed": " ".join(str(next(filter(None, messages), error)).split())[:500]}


def _give_up() -> None:
    time.sleep(STOP_SECONDS)
    os._exit(1)  # the write-ahead log mends it at the next start


# A quicker start: after the first session a small process writes down Java's loaded classes (an AOT cache),
# and later sessions map them: 2.0 s to the first answer instead of 4.7 on two busy cores. It is recorded
# aside, because recording may slow a bulk load down. Java goes on without a cache that does not fit.


def cache_file(folder: Path) -> Path:
    """Return the cache of this installation of the engine."""
    import arcadedb_embedded

    package = Path(arcadedb_embedded.__file__).parent
    key = f"{arcadedb_embedded.__version__} {package} {(package / 'jars').stat().st_mtime_ns}"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.aot"


def jvm_arguments(folder: Path) -> list[str]:
    """Return the arguments of Java, with the cache if there is one."""
    file = cache_file(folder)
    return [f"-XX:AOTCache={file}", "-Xlog:aot=off", "-Xlog:cds=off"] if file.exists() else []


def record_aside(folder: Path, heap: str) -> None:
    """If there is no cache, start a process of low priority that makes it, without waiting."""
    with contextlib.suppress(OSError):
        if cache_file(folder).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.Popen(
            [sys.executable, "-m", "gsw_graph.load.rehearsal", str(folder), heap],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )


def record(folder: Path, heap: str, rehearse: Rehearse) -> None:
    """Start an engine in a scratch folder, rehearse, end its JVM, which writes the cache, and put that in
    its place."""
    lock = FolderLock(folder)
    if lock.acquire({"pid": os.getpid(), "command": "embedded_cache"}, patience=0) is not None:
        return  # another one is at it
    for left in folder.glob("recording-*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    try:
        _record(folder, heap, rehearse)
    finally:
        lock.release()


def _record(folder: Path, heap: str, rehearse: Rehearse) -> None:
    guard = threading.Timer(_REHEARSAL_SECONDS, os._exit, (1,))
    guard.daemon = True
    guard.start()
    if hasattr(os, "nice"):
        os.nice(10)
    with tempfile.TemporaryDirectory(prefix="recording-", dir=folder, ignore_cleanup_errors=True) as scratch:
        os.chdir(scratch)
        part = Path(scratch) / "cache"
        rehearse(Path(scratch) / "memory", heap, [f"-XX:AOTCacheOutput={part}"])
        import jpype

        jpype.shutdownJVM()
        part.replace(cache_file(folder))
        os.chdir(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
