"""A quicker start: after the first session a small process writes down Java's loaded classes (an AOT cache), and later sessions map them.

Measured on two busy cores, start to first answer: 4.7 s without, 2.0 s with it. It is recorded aside and not in a session, because recording
may slow a bulk load down. Java checks that a cache fits its version, flags and class path, and goes on without one that does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from gsw_graph.engine.embedded_folder import FolderLock

_SECONDS = 180
# What a memory does, in small, so that the classes behind it are loaded.
_REHEARSAL = (
    "CREATE CONSTRAINT r IF NOT EXISTS FOR (n:Rehearsal) REQUIRE n.id IS UNIQUE",
    "UNWIND range(1, 20) AS i MERGE (n:Rehearsal {id: i}) ON CREATE SET n.name = 'n' + i, n += {x: i} RETURN count(n) AS n",
    "MATCH (a:Rehearsal), (b:Rehearsal) WHERE a.id < b.id AND a.id IN [1, 2] MERGE (b)<-[r:NEXT]-(a) SET r.position = 1",
    "MATCH (n:Rehearsal {id: 1})-[:NEXT]->(m) OPTIONAL MATCH (m)-[r]->() WITH m, collect(r {.position}) AS r, max(m.x) AS x "
    "RETURN m.id AS id, coalesce(m.name, '') AS name, size(r) AS n, EXISTS { (m)--() } AS e ORDER BY x DESC, id SKIP 1 LIMIT 3",
    "UNWIND [1, 2] AS i CALL (i) { MATCH (n:Rehearsal {id: i}) RETURN n UNION MATCH (n:Rehearsal) WHERE n.name CONTAINS 'x' RETURN n } "
    "RETURN i, [x IN collect(n) WHERE x.id > 0 | x.name] AS names",
    "MATCH (n:Rehearsal) WHERE n.id > 10 DETACH DELETE n",
)


def cache_file(folder: Path) -> Path:
    """The cache of this installation of the engine."""
    import arcadedb_embedded  # type: ignore[import-untyped]

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
    if FolderLock(folder).acquire({"pid": os.getpid(), "command": "embedded_cache"}, patience=0) is not None:
        return  # another one is at it
    guard = threading.Timer(_SECONDS, os._exit, (1,))
    guard.daemon = True
    guard.start()
    if hasattr(os, "nice"):
        os.nice(10)
    with tempfile.TemporaryDirectory(prefix="recording-", dir=folder, ignore_cleanup_errors=True) as scratch:
        os.chdir(scratch)
        part = Path(scratch) / "cache"
        _rehearse(Path(scratch) / "memory", heap, [f"-XX:AOTCacheOutput={part}"])
        import jpype  # type: ignore[import-untyped]

        jpype.shutdownJVM()
        part.replace(cache_file(folder))
        os.chdir(folder)


def _rehearse(memory: Path, heap: str, arguments: list[str]) -> None:
    from neo4j import GraphDatabase

    from gsw_graph.engine import embedded_child, embedded_folder

    embedded_folder.prepare(memory)
    server, ready = embedded_child.start_server(memory, heap, arguments)
    server.create_database(embedded_child.DATABASE)
    auth = ("root", embedded_folder.read_password(memory))
    with GraphDatabase.driver(f"bolt://127.0.0.1:{ready['bolt']}", auth=auth, notifications_min_severity="OFF") as driver:
        for statement in _REHEARSAL:
            driver.execute_query(statement, database_=embedded_child.DATABASE)
    server.stop()


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])
