"""Record: each chat request becomes a file that waits until somebody has written its reply.

    python bench/recorder.py --record FOLDER [--timeout SECONDS]   # serve; --timeout 0 notes what is open
    python bench/recorder.py --open FOLDER                         # print the requests without a reply
    python bench/recorder.py --lines FOLDER --written-by WHO       # print the recording for examples/replay.py

FOLDER/asked/000123.json has the request, .txt the same to read; the reply belongs in FOLDER/replies/000123.txt: a
text, or JSON where there is a schema. A request that was recorded before is answered at once. Give gswgraph a
GSWGRAPH_LLM_TIMEOUT above the timeout here and a model name that no other run used, as replies are cached by it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent / folder) for folder in ("tests", "examples")]
from model_server import ModelServer  # type: ignore[import-not-found,unused-ignore]  # noqa: E402
from replay import (  # type: ignore[import-not-found,unused-ignore]  # noqa: E402
    Script,
    request_id,
    schema_of,
    stage_of,
    text_of,
)

__all__ = ["ModelServer", "known_or_recorded", "stage_of"]

_POLL_SECONDS = 0.1
_SETTLED_SECONDS = 1.0  # a reply file that was not changed for so long is complete


class Recorder:
    """Answers chat requests from a folder, and writes new ones there; safe for threads.

    timeout: seconds to wait for a reply; with 0 a request without one is noted and refused.
    """

    def __init__(self, folder: str | Path, timeout: float = 3600.0) -> None:
        self._asked, self._replies = Path(folder) / "asked", Path(folder) / "replies"
        self._timeout, self._lock = timeout, threading.Lock()
        for path in (self._asked, self._replies):
            path.mkdir(parents=True, exist_ok=True)
        self._numbers = {request_id_of(request): number for number, request in requests(folder)}
        self._last = max(self._numbers.values(), default=0)

    def __call__(self, body: dict[str, Any]) -> Any:
        """Return the reply to a request as soon as there is one; None when the time is up."""
        number, end = self._number(body), time.monotonic() + self._timeout
        while True:
            path = self._replies / f"{number:06}.txt"
            if path.exists() and (not self._timeout or time.time() - path.stat().st_mtime > _SETTLED_SECONDS):
                try:
                    return read_reply(path, schema_of(body))
                except ValueError as error:
                    path.rename(path.with_suffix(".wrong.txt"))
                    print(f"{path}: {error}; write it again", file=sys.stderr)
            if time.monotonic() >= end:
                return None
            time.sleep(_POLL_SECONDS)

    def _number(self, body: dict[str, Any]) -> int:
        with self._lock:
            key = request_id(body)
            if key not in self._numbers:
                self._last += 1
                self._numbers[key] = self._last
                content = {"stage": stage_of(body), "messages": body["messages"], "schema": schema_of(body)}
                _write(self._asked / f"{self._last:06}.txt", as_text(self._last, content))
                text = json.dumps(content, ensure_ascii=False, indent=1)
                _write(self._asked / f"{self._last:06}.json", text + "\n")
            return self._numbers[key]


def known_or_recorded(lines: list[dict[str, Any]], folder: Path | None) -> Callable[[dict[str, Any]], Any]:
    """Return a function that replies from lines of `examples/replay.py`, else by a recorder in a folder."""
    script, recorder = Script(lines), Recorder(folder, 0.0) if folder else None

    def reply(body: dict[str, Any]) -> Any:
        line = script.find(body)
        return line["reply"] if line else recorder(body) if recorder else None

    return reply


def requests(folder: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and content of each request, in the order in which they came."""
    for path in sorted((Path(folder) / "asked").glob("*.json")):
        yield int(path.stem), json.loads(path.read_text(encoding="utf-8"))


def request_id_of(content: dict[str, Any]) -> str:
    """Return the hash of a recorded request."""
    schema = content["schema"]
    form = {"type": "json_schema", "json_schema": {"schema": schema}} if schema is not None else {}
    return str(request_id({"messages": content["messages"], "response_format": form}))


def as_text(number: int, content: dict[str, Any]) -> str:
    """Return a request as a person reads it."""
    kind = "a text" if content["schema"] is None else "JSON as the schema below says"
    parts = [f"Request {number:06}, stage: {content['stage'] or 'unknown'}. Its reply: {kind}"]
    parts += [f"=== {message.get('role')}\n{text_of(message)}" for message in content["messages"]]
    parts += [] if content["schema"] is None else [f"=== schema\n{json.dumps(content['schema'])}"]
    return "\n\n".join(parts) + "\n"


def read_reply(path: Path, schema: Any) -> Any:
    """Read a reply: a text, or JSON where there is a schema. Raises ValueError."""
    text = path.read_text(encoding="utf-8-sig").strip()
    if not text:
        raise ValueError("the reply is empty")
    return text if schema is None else json.loads(text)


def recorded(folder: str | Path, written_by: str) -> list[dict[str, Any]]:
    """Return a recording as lines for `examples/replay.py`; requests without a reply are left out."""
    lines: list[dict[str, Any]] = [{"written by": written_by}]
    for number, content in requests(folder):
        if (path := Path(folder) / "replies" / f"{number:06}.txt").exists():
            when = {"stage": content["stage"], "request": request_id_of(content)}
            lines.append({"when": when, "reply": read_reply(path, content["schema"])})
    return lines


def unanswered(folder: str | Path) -> list[str]:
    """Return the requests that have no reply yet, as texts."""
    replies = {path.name for path in (Path(folder) / "replies").glob("*.txt")}
    return [as_text(n, content) for n, content in requests(folder) if f"{n:06}.txt" not in replies]


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    partial = path.with_name(f".{path.name}")
    partial.write_bytes(text.encode("utf-8", "backslashreplace"))
    os.replace(partial, path)  # noqa: PTH105


def main() -> None:
    """Record, or print a recording."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--record", metavar="FOLDER", help="serve, and write requests here")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds that a request waits")
    parser.add_argument("--open", metavar="FOLDER", help="print the requests without a reply")
    parser.add_argument("--lines", metavar="FOLDER", help="print a recording as lines to replay")
    parser.add_argument("--written-by", default="unknown", help="whose words the replies are")
    options = parser.parse_args()
    if options.open:
        print(*unanswered(options.open), sep="\n")
    if options.lines:
        lines = recorded(options.lines, options.written_by)
        print(*(json.dumps(line, ensure_ascii=False) for line in lines), sep="\n")
    if options.record:
        with ModelServer(Recorder(options.record, options.timeout)) as server:
            settings = f"OPENAI_BASE_URL={server.url} OPENAI_API_KEY=none OPENAI_MODEL=recorded"
            wait = f"GSWGRAPH_LLM_TIMEOUT={int(options.timeout) + 60} GSWGRAPH_CONCURRENCY=32"
            print(f"export {settings} {wait}", flush=True)
            threading.Event().wait()


if __name__ == "__main__":
    main()
