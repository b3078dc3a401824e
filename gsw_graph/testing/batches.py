"""Files and batches: a file of requests goes in, files of answers and of errors come out, in OpenAI's
shapes."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gsw_graph.testing.listener import Answer, Incoming, error

_NAME = re.compile(rb'\bname="([^"]*)"')
_FILE = re.compile(rb'\bfilename="([^"]*)"')
_CHAT = "/v1/chat/completions"
_DAY = 86_400

Run = Callable[[dict[str, Any], str], "Answer | None"]
"""The body of a line and the id of its batch go in, its answer comes out,
or None where the time was up before it ran."""


@dataclass(slots=True)
class _Batch:
    shown: dict[str, Any]
    requests: dict[str, dict[str, Any]]
    wrong: list[dict[str, Any]]
    polls: int = 0
    created: float = field(default_factory=time.monotonic)


class Batches:
    """All files and batches of one server, in memory. A batch is done at the poll number `polls`
    (retrieved or listed), and not before `seconds` are over."""

    def __init__(self, run: Run, polls: int, seconds: float) -> None:
        self._run, self._polls, self._seconds = run, polls, seconds
        self._lock = threading.RLock()
        self._files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._batches: dict[str, _Batch] = {}
        self._numbers = itertools.count(1)

    def files(self, incoming: Incoming, id_: str, part: str) -> Answer:
        """`/v1/files`: upload, show, fetch the content, delete."""
        with self._lock:
            if incoming.method == "POST" and not id_:
                return self._upload(incoming)
            if not id_ or id_ not in self._files:
                return error(404, f"No such File object: {id_}", param="id")
            if incoming.method == "DELETE":
                del self._files[id_]
                return Answer(content={"id": id_, "object": "file", "deleted": True})
            shown, content = self._files[id_]
            return Answer(content=content if part == "content" else shown)

    def batches(self, incoming: Incoming, id_: str, part: str) -> Answer:
        """`/v1/batches`: create, show, list, cancel."""
        with self._lock:
            if incoming.method == "POST" and not id_:
                return self._create(incoming)
            if not id_:
                return self._list(incoming.query)
            if id_ not in self._batches:
                return error(404, f"No batch found with id '{id_}'.", param="batch_id")
            if incoming.method == "POST" and part == "cancel":
                return self._cancel(self._batches[id_].shown)
            return Answer(content=self._look(self._batches[id_]))

    def _upload(self, incoming: Incoming) -> Answer:
        parts = _multipart(incoming)
        purpose, (name, content) = parts.get("purpose", ("", b""))[1].decode(), parts.get("file", ("", b""))
        if not purpose or not name:
            return error(400, "'file' and 'purpose' are required", param="file" if purpose else "purpose")
        return Answer(content=self._keep(content, name, purpose))

    def _keep(self, content: bytes, name: str, purpose: str) -> dict[str, Any]:
        id_ = f"file-{next(self._numbers)}"
        shown = {
            "id": id_,
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": purpose,
        }
        shown["status"] = "processed"
        self._files[id_] = shown, content
        return shown

    def _create(self, incoming: Incoming) -> Answer:
        body = json.loads(incoming.body)
        source = body.get("input_file_id")
        if source not in self._files or self._files[source][0]["purpose"] != "batch":
            return error(
                400,
                f"Invalid 'input_file_id': no file '{source}' with the purpose 'batch'.",
                param="input_file_id",
            )
        if body.get("endpoint") != _CHAT or body.get("completion_window") != "24h":
            return error(
                400,
                f"A batch needs the endpoint '{_CHAT}' and the completion_window '24h'.",
                param="endpoint",
            )
        now, id_ = int(time.time()), f"batch_{len(self._batches) + 1}"
        shown = {
            "id": id_, "object": "batch", "endpoint": _CHAT, "errors": None, "input_file_id": source,
            "completion_window": "24h", "status": "validating",
            "output_file_id": None, "error_file_id": None, "created_at": now,
            "in_progress_at": None, "expires_at": now + _DAY, "finalizing_at": None,
            "completed_at": None, "failed_at": None, "expired_at": None,
            "cancelling_at": None, "cancelled_at": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0}, "metadata": body.get("metadata"),
        }  # fmt: skip
        self._batches[id_] = _Batch(shown, *_requests(self._files[source][1]))
        return Answer(content=dict(shown))

    def _list(self, query: Mapping[str, str]) -> Answer:
        """The newest first, in pages."""
        ids = list(reversed(self._batches))
        first = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
        last = first + int(query.get("limit") or 20)
        data = [self._look(self._batches[id_]) for id_ in ids[first:last]]
        ends = (
            {"first_id": data[0]["id"], "last_id": data[-1]["id"]}
            if data
            else {"first_id": None, "last_id": None}
        )
        return Answer(content={"object": "list", "data": data, **ends, "has_more": last < len(ids)})

    def _cancel(self, shown: dict[str, Any]) -> Answer:
        if shown["status"] not in ("validating", "in_progress"):
            return error(409, f"Cannot cancel a batch with status '{shown['status']}'.")
        shown.update(status="cancelling", cancelling_at=int(time.time()))
        return Answer(content=dict(shown))

    def _look(self, batch: _Batch) -> dict[str, Any]:
        """A poll: moves the batch on."""
        shown, now = batch.shown, int(time.time())
        batch.polls += 1
        if shown["status"] == "cancelling":
            shown.update(status="cancelled", cancelled_at=now)
        if shown["status"] == "validating":
            if batch.wrong:
                shown.update(status="failed", failed_at=now, errors={"object": "list", "data": batch.wrong})
            else:
                shown.update(status="in_progress", in_progress_at=now)
                shown["request_counts"] = {"total": len(batch.requests), "completed": 0, "failed": 0}
        if (
            shown["status"] == "in_progress"
            and batch.polls >= self._polls
            and time.monotonic() - batch.created >= self._seconds
        ):
            self._finish(shown, batch.requests)
        return dict(shown)

    def _finish(self, shown: dict[str, Any], requests: Mapping[str, dict[str, Any]]) -> None:
        done: list[dict[str, Any]] = []
        failed: list[dict[str, Any]] = []
        late = False
        # As with the real service, answers come in another order than requests.
        for number, (custom_id, body) in enumerate(
            sorted(requests.items(), key=lambda item: hashlib.blake2b(item[0].encode()).digest()), 1
        ):
            answer = self._run(body, shown["id"])
            line: dict[str, Any] = {
                "id": f"{shown['id']}_req_{number}",
                "custom_id": custom_id,
                "response": None,
                "error": None,
            }
            if answer is None:
                late = True
                line["error"] = {
                    "code": "batch_expired",
                    "message": "This request could not be executed before the completion window expired.",
                }
            else:
                line["response"] = {
                    "status_code": answer.status,
                    "request_id": f"req_{number}",
                    "body": answer.content,
                }
            (done if answer is not None and answer.status == 200 else failed).append(line)
        for name, lines in (("output", done), ("error", failed)):
            if lines:
                content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
                shown[f"{name}_file_id"] = self._keep(content, f"{shown['id']}_{name}.jsonl", "batch_output")[
                    "id"
                ]
        status = "expired" if late else "completed"
        shown.update({"status": status, "finalizing_at": int(time.time()), f"{status}_at": int(time.time())})
        shown["request_counts"] = {"total": len(requests), "completed": len(done), "failed": len(failed)}


def _requests(content: bytes) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The bodies by `custom_id`, and what is wrong with the lines."""
    found: dict[str, dict[str, Any]] = {}
    wrong = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            request = json.loads(line)
            id_, body = request["custom_id"], request["body"]
            sound = (
                isinstance(id_, str)
                and isinstance(body, dict)
                and request["method"] == "POST"
                and request["url"] == _CHAT
            )
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            wrong.append(
                {
                    "code": "invalid_json_line",
                    "message": "This line is no request of a batch.",
                    "param": None,
                    "line": number,
                }
            )
        elif id_ in found:
            wrong.append(
                {
                    "code": "duplicate_custom_id",
                    "message": f"The custom_id '{id_}' was used before.",
                    "param": "custom_id",
                    "line": number,
                }
            )
        else:
            found[id_] = body
    if not content.strip():
        wrong.append(
            {"code": "empty_file", "message": "The input file is empty.", "param": None, "line": None}
        )
    return found, wrong


def _multipart(incoming: Incoming) -> dict[str, tuple[str, bytes]]:
    """The parts of a form by name: file name and content."""
    boundary = incoming.headers.get_boundary()
    found = {}
    for part in (b"\r\n" + incoming.body).split(b"\r\n--" + boundary.encode())[1:-1] if boundary else ():
        head, _, content = part.partition(b"\r\n\r\n")
        if name := _NAME.search(head):
            file = _FILE.search(head)
            found[name[1].decode()] = (file[1].decode() if file else "", content)
    return found
