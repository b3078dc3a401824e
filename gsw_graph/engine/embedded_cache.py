"""A quicker second start: the first session lets Java write down its loaded classes (an AOT cache), later ones map them into memory.

Used in the child process only. Measured, start to first answer: 1.6 s with the cache, 4.3 s without (two busy cores). Java itself checks
that a cache fits its version, flags and class path, and goes on without where it does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

# What a memory does, in small, so that the classes behind it are loaded however short the first session was.
_REHEARSAL = (
    "UNWIND range(1, 20) AS i MERGE (n:Rehearsal {id: i}) ON CREATE SET n.name = 'n' + i, n += {x: i} RETURN count(n) AS n",
    "MATCH (a:Rehearsal), (b:Rehearsal) WHERE a.id < b.id AND a.id IN [1, 2] MERGE (b)<-[r:NEXT]-(a) SET r.position = 1",
    "MATCH (n:Rehearsal {id: 1})-[:NEXT]->(m) OPTIONAL MATCH (m)-[r]->() WITH m, collect(r {.position}) AS r, max(m.x) AS x "
    "RETURN m.id AS id, coalesce(m.name, '') AS name, size(r) AS n, EXISTS { (m)--() } AS e ORDER BY x DESC, id SKIP 1 LIMIT 3",
    "UNWIND [1, 2] AS i CALL (i) { MATCH (n:Rehearsal {id: i}) RETURN n UNION MATCH (n:Rehearsal) WHERE n.name CONTAINS 'x' RETURN n } "
    "RETURN i, [x IN collect(n) WHERE x.id > 0 | x.name] AS names",
    "MATCH (n:Rehearsal) WHERE n.id > 10 DETACH DELETE n",
)


class StartCache:
    """The cache file of this installation below `folder`; `arguments` are for the JVM."""

    def __init__(self, folder: Path) -> None:
        import arcadedb_embedded  # type: ignore[import-untyped]

        package = Path(arcadedb_embedded.__file__).parent
        key = f"{arcadedb_embedded.__version__} {package} {(package / 'jars').stat().st_mtime_ns}"
        self._file = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.aot"
        self._part: Path | None = None

    def arguments(self) -> list[str]:
        """Use the cache, or record one where there is none."""
        if self._file.exists():
            return [f"-XX:AOTCache={self._file}", "-Xlog:aot=off", "-Xlog:cds=off"]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._part = Path(tempfile.mkdtemp(prefix="recording-", dir=self._file.parent)) / "cache"
        except OSError:
            return []  # only slower
        return [f"-XX:AOTCacheOutput={self._part}"]

    def finish(self) -> None:
        """Where this session recorded: end the JVM, which writes the cache, and put it in its place. The engine has stopped before."""
        if self._part is None:
            return
        import jpype  # type: ignore[import-untyped]

        with contextlib.suppress(Exception):
            _rehearse(self._part.parent / "rehearsal")
        with contextlib.suppress(Exception):
            jpype.shutdownJVM()  # on the main thread only
            self._part.replace(self._file)
        shutil.rmtree(self._part.parent, ignore_errors=True)


def _rehearse(folder: Path) -> None:
    import arcadedb_embedded

    database: Any = arcadedb_embedded.create_database(str(folder))
    with database.transaction():
        for statement in _REHEARSAL:
            list(database.command("opencypher", statement))
    database.close()
