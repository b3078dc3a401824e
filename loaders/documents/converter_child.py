"""The child process that reads documents: `python -m gsw_graph.loaders.documents.converter_child PARENT_PID
MEMORY`, MEMORY in bytes.

On stdin come requests, a line of JSON `{"form", "length"}` and as many bytes of a document. For each one on
stdout goes a line of JSON, with the fields of `Converted` but for its text, and `length`: so many bytes of
text in UTF-8 follow; or `{"failed": reason, "nothing": whether it is no fault}`. The child opens no
connection and starts no program. It ends when stdin ends, when its parent dies, when it had nothing to do for
a minute, and when it would take more memory than it may.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gsw_graph.loaders.documents.archives import NothingError, UnusableError
from gsw_graph.loaders.documents.convert import convert

OUT_OF_MEMORY = 75
_IDLE = 60.0  # seconds
_TICK = 0.25
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


def main(arguments: list[str]) -> None:
    """Answer requests until the end."""
    parent, memory = int(arguments[0]), int(arguments[1])
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _bound(memory)
    sys.addaudithook(_forbid)
    idle_since = [0.0]
    threading.Thread(target=_watch, args=(parent, memory, idle_since), daemon=True).start()
    while True:
        idle_since[0] = time.monotonic()
        line = source.readline()
        idle_since[0] = 0.0
        if not line:
            return
        request = json.loads(line)
        try:
            _answer(request["form"], source.read(request["length"]), answers)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what is left of it serves nobody
        if _size() > memory * 3 // 4:  # the next document shall have all of it
            return


def _answer(form: Any, data: bytes, answers: Any) -> None:
    body = b""
    try:
        found = convert(form, data)
        body = found.text.encode("utf-8")
        word: dict[str, Any] = {
            "title": found.title[:1000],
            "loader": found.loader,
            "faults": [fault[:500] for fault in found.faults],
        }
        word |= {"plain": found.plain, "length": len(body)}
    except UnusableError as error:
        word = {"failed": str(error)[:2000], "nothing": isinstance(error, NothingError)}
    answers.write(json.dumps(word).encode() + b"\n")
    answers.write(body)
    answers.flush()


def _bound(memory: int) -> None:
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
    except (ValueError, OSError):  # macOS, where `_watch` looks after it
        return


def _size() -> int:
    """Bytes of the address space, which is what `_bound` limits; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _watch(parent: int, memory: int, idle_since: list[float]) -> None:
    while (
        os.name != "posix" or os.getppid() == parent
    ):  # another child of the parent may keep stdin open after its death
        since = idle_since[0]
        if since and time.monotonic() - since > _IDLE:
            break
        if sys.platform == "darwin" and _peak() > memory:
            os._exit(OUT_OF_MEMORY)
        time.sleep(_TICK)
    os._exit(0)


def _peak() -> int:
    """The most bytes that this process had in memory, on macOS. (Linux counts those of the parent.)"""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _forbid(event: str, _: tuple[Any, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a document made its reader ask for {event}")


if __name__ == "__main__":
    main(sys.argv[1:])
