"""A quicker start: after the first session a small process writes down Java's loaded classes (an AOT cache), and later sessions map them.

Start to first answer, measured on two busy cores: 4.7 s without, 2.0 s with it. It is recorded aside and not in a session, because recording
may slow a bulk load down. Java checks that a cache fits its version, flags and class path, and goes on without one that does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from gsw_graph.engine.embedded_folder import FolderLock

_SECONDS = 180
_PASSAGES = 300


def cache_file(folder: Path) -> Path:
    """The cache of this installation of the engine."""
    import arcadedb_embedded

    package = Path(arcadedb_embedded.__file__).parent
    key = f"{arcadedb_embedded.__version__} {package} {(package / 'jars').stat().st_mtime_ns}"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.aot"


def jvm_arguments(folder: Path) -> list[str]:
    """Use the cache where there is one."""
    file = cache_file(folder)
    return [f"-XX:AOTCache={file}", "-Xlog:aot=off", "-Xlog:cds=off"] if file.exists() else []


def record_aside(folder: Path, heap: str) -> None:
    """Where there is no cache, start a process of low priority that makes one, and do not wait for it."""
    with contextlib.suppress(OSError):
        if cache_file(folder).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.Popen(
            [sys.executable, "-m", "gsw_graph.engine.embedded_cache", str(folder), heap],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )


def record(folder: Path, heap: str) -> None:
    """Start an engine in a scratch folder, rehearse, end its JVM, which writes the cache, and put that in its place."""
    lock = FolderLock(folder)
    if lock.acquire({"pid": os.getpid(), "command": "embedded_cache"}, patience=0) is not None:
        return  # another one is at it
    for left in folder.glob("recording-*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    try:
        _record(folder, heap)
    finally:
        lock.release()


def _record(folder: Path, heap: str) -> None:
    guard = threading.Timer(_SECONDS, os._exit, (1,))
    guard.daemon = True
    guard.start()
    if hasattr(os, "nice"):
        os.nice(10)
    with tempfile.TemporaryDirectory(prefix="recording-", dir=folder, ignore_cleanup_errors=True) as scratch:
        os.chdir(scratch)
        part = Path(scratch) / "cache"
        _rehearse(Path(scratch) / "memory", heap, [f"-XX:AOTCacheOutput={part}"])
        import jpype

        jpype.shutdownJVM()
        part.replace(cache_file(folder))
        os.chdir(folder)


def _rehearse(memory: Path, heap: str, arguments: list[str]) -> None:
    """What a first session does, in small: schema, a load, the search indexes, a question, a removal."""
    from types import SimpleNamespace

    import numpy as np
    from neo4j import GraphDatabase

    from gsw_graph.engine import Connection, embedded_child, embedded_folder
    from gsw_graph.engine.embedded import EmbeddedDialect
    from gsw_graph.extract import rules
    from gsw_graph.model import Document, Passage
    from gsw_graph.store import schema, writer
    from gsw_graph.store.reader import Reader
    from gsw_graph.store.rows import Vectors

    embedded_folder.prepare(memory)
    server, ready = embedded_child.start_server(memory, heap, arguments)
    server.create_database(embedded_child.DATABASE)
    password = embedded_folder.read_password(memory)
    with GraphDatabase.driver(f"bolt://127.0.0.1:{ready['bolt']}", auth=("root", password), notifications_min_severity="OFF") as driver:
        connection = Connection(driver, embedded_child.DATABASE, EmbeddedDialect(driver, SimpleNamespace(ready=ready), password), str(memory))  # type: ignore[arg-type]  # no child here
        schema.prepare(connection, "rehearsal", 384)
        vectors = np.random.default_rng(0).normal(size=(_PASSAGES, 384)).astype(np.float32)
        batch = writer.Batch()
        ids = []
        for number in range(_PASSAGES):
            passage = Passage(f"Some Name {number} met Another Name {number % 7} in the Town of Place {number % 50} on 3 May {1900 + number % 90}.", "Title", 0)
            document = Document(f"rehearsal/{number}", "Title", (passage,), "text")
            ids.append(document.id)
            batch.add(rules.extract(document), Vectors(vectors[number : number + 1]))
        reader = Reader(connection)
        reader.document_states(ids)
        with driver.session(database=connection.database) as session:
            writer.write(session, batch, connection.dialect.name)
            schema.build_search_indexes(connection, 384)
            found = reader.nearest([vectors[0].tolist()], 100)
            reader.passages([passage for passage, _ in found.passages[0][:5]], [0.0] * 5)
            list(reader.name_graph())
            reader.counts()
            writer.forget(session, ids)
    server.stop()


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])
