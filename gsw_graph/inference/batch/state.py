"""What a server says of a batch, checked once where it comes in, and the files that it left, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gsw_graph.errors import StoppedError
from gsw_graph.inference.bodies import MOST, BodyError, at_most
from gsw_graph.inference.endpoint import Endpoint

A_LINE = 65_536  # bytes of a file for each request of a batch; the mean of all, beside MOST


@dataclass(frozen=True, slots=True)
class BatchState:
    """marks: what we wrote on it. done: requests. output, errors: ids of files. reasons: why it failed."""

    id: str
    status: str
    marks: dict[str, str]
    done: int
    output: str | None
    errors: str | None
    reasons: str


def read_batch(found: Any, end: Endpoint) -> BatchState:
    """A batch as the client gives it. Raises StoppedError where it has not the types it should have."""
    marks, counts, errors = (getattr(found, name, None) for name in ("metadata", "request_counts", "errors"))
    done, reasons = getattr(counts, "completed", None) or 0, getattr(errors, "data", None) or []
    id_, status, *files = (
        getattr(found, name, None) for name in ("id", "status", "output_file_id", "error_file_id")
    )
    sound = (
        isinstance(id_, str)
        and isinstance(status, str)
        and all(isinstance(file, str | None) for file in files)
    )
    if not (sound and isinstance(marks, dict | None) and isinstance(done, int) and isinstance(reasons, list)):
        raise StoppedError(
            "what the server says of a batch cannot be used",
            where=end.host,
            hint="See that it has OpenAI's Batch API, or load without --batch",
        )
    said = "; ".join(str(getattr(reason, "message", None) or "") for reason in reasons[:3])
    return BatchState(str(id_), str(status), marks or {}, done, files[0], files[1], said)


def read_list(found: Any, end: Endpoint) -> list[BatchState]:
    """The batches of a server's list. Raises StoppedError as `read_batch`."""
    data = getattr(found, "data", None)
    return [read_batch(one, end) for one in (data if isinstance(data, list) else [found] if data else [])]


def lines(client: Any, file: str | None, requests: int) -> Iterator[dict[str, Any] | None]:
    """Of a file that a batch of so many requests left, if it did; None for a line that is no JSON object.
    Raises BodyError where it is too long."""
    if not file:
        return
    with at_most(MOST + A_LINE * requests), client.files.with_streaming_response.content(file) as response:
        for line in _lines(response.iter_bytes()):
            if line.strip():
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    found = None
                yield found if isinstance(found, dict) else None


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines by their line breaks alone: texts may hold what else ends a line, such as U+2028."""
    open_ = bytearray()
    for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for end in whole:
            yield bytes(open_ + end)
            open_.clear()
        open_ += rest
        if len(open_) > MOST:
            raise BodyError(f"a line of its file has more than {MOST / 1e6:,.0f} MB")
    yield bytes(open_)
