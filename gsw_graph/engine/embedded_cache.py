"""A quicker start: after the first session a small process writes down Java's loaded classes (an AOT cache),
and later sessions map them.

Start to first answer, measured on two busy cores: 4.7 s without, 2.0 s with it. It is recorded aside and not
in a session, because recording
may slow a bulk load down. Java checks that a cache fits its version, flags and class path, and goes on
without one that does not.
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
from collections.abc import Callable
from pathlib import Path

from gsw_graph.engine.embedded_folder import FolderLock

_SECONDS = 180
Rehearse = Callable[[Path, str, list[str]], None]  # memory, heap, arguments of Java


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
            [sys.executable, "-m", "gsw_graph.rehearsal", str(folder), heap],
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
    guard = threading.Timer(_SECONDS, os._exit, (1,))
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
