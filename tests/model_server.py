"""A model server for tests: it speaks as OpenAI's does, and says and breaks what a test wants it to.

    with ModelServer([{"when": {"stage": "answer"}, "reply": "Answer: Paris"}], faults=[Fault("rate_limit", calls=(1,))]) as server:
        Settings(llm="any", llm_url=server.url)

Replies are lines as in examples/replay.py, or a function that gets the body of a chat request. RawServer answers with the very bytes a test gives.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import socket
import socketserver
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from gsw_graph.config import Settings

sys.path.append(str(Path(__file__).parent.parent / "examples"))
from replay import Script, read_lines, stage_of, text_of, user_text  # type: ignore[import-not-found,unused-ignore]

KEY = "sk-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
REFUSED = {  # status, message, code
    "rate_limit": (429, "Rate limit reached: too many requests", "rate_limit_exceeded"),
    "quota": (
        429,
        "You exceeded your current quota, please check your plan and billing details",
        "insufficient_quota",
    ),
    "key": (401, "Incorrect API key provided", "invalid_api_key"),
    "context": (
        400,
        "The messages are longer than the maximum context length of this model",
        "context_length_exceeded",
    ),
    "server_error": (500, "The server had an error while processing your request", None),
    "overloaded": (503, "The engine is currently overloaded, please try again later", None),
}
SPOILED = ("length", "invalid", "wrong_schema", "refusal", "content_filter", "empty")
_ROUTE = re.compile(r"(?:/v1)?/(chat/completions|files|batches|models)(?:/([^/]+))?(?:/([^/]+))?/?")
_TAKEN = {
    "schema": ("text", "json_object", "json_schema"),
    "json": ("text", "json_object"),
    "plain": ("text",),
}


@dataclass(slots=True)
class Call:
    """A request: `number` counts those of its endpoint, `attempt` those with the same content. status: None until it is answered, 0 where it was dropped."""

    endpoint: str
    number: int
    body: dict[str, Any]
    digest: bytes
    attempt: int
    batch: bool
    arrived: float
    status: int | None = None
    fault: str = ""
    answered: float | None = None

    @property
    def stage(self):
        if self.endpoint == "chat":
            return stage_of(self.body)
        return ""

    @property
    def said(self):
        return user_text(self.body)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong: a kind of REFUSED or SPOILED, `hang`, `close`, or of a batch `expired`; for a share of the requests (drawn from content and attempt),
    some calls by number, a stage, or requests that contain texts. seconds: how long `hang` holds, and the Retry-After of `rate_limit`."""

    kind: str
    share: float = 1.0
    calls: tuple[int, ...] = ()
    attempts: int | None = None
    stage: str | None = None
    contains: tuple[str, ...] = ()
    seconds: float | None = None
    endpoint: str = "chat"
    seed: int = 0

    def fits(self, call):
        return (
            call.endpoint == self.endpoint
            and (not self.calls or call.number in self.calls)
            and (self.attempts is None or call.attempt <= self.attempts)
            and self.stage in (None, call.stage)
            and (self.kind != "expired" or call.batch)
            and (not self.contains or all(text in call.said for text in self.contains))
        )

    def chance(self, call):
        drawn = hashlib.blake2b(f"{self.seed} {call.attempt} ".encode() + call.digest, digest_size=8).digest()
        return int.from_bytes(drawn, "big") / 2**64


def count_tokens(text):
    """Tokens as this server counts them."""
    return len(re.findall(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]{1,3}|_", text))


def ok(content, *, finish="stop", usage=None, **message):
    """A chat completion with this content: a text as it is, anything else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    data = {
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ]
    }
    return 200, {}, json.dumps(data if usage is None else {**data, "usage": usage})


def error(status, message, code=None, headers=None, **more):
    """An error as OpenAI writes it."""
    return (
        status,
        headers or {},
        json.dumps({"error": {"message": message, "type": None, "param": None, "code": code, **more}}),
    )


def events(*chunks, done=True):
    """A stream of chunks: texts as deltas, anything else as it is."""
    shown = [
        {"choices": [{"index": 0, "delta": {"content": chunk}}]} if isinstance(chunk, str) else chunk
        for chunk in chunks
    ]
    lines = [*map(json.dumps, shown), *(["[DONE]"] if done else [])]
    return 200, {"Content-Type": "text/event-stream"}, "".join(f"data: {line}\n\n" for line in lines)


class Listener(ThreadingHTTPServer):
    """Gives each request to `serve`: method, path, query, headers, body; None closes the connection without an answer."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, serve):
        self.serve = serve
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name = "127.0.0.1"
        self.server_port = self.server_address[1]

    def get_request(self):
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self._open.discard(request)

    def handle_error(self, *_):
        """Clients that went away are no error."""

    def close(self):
        self.shutdown()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def _serve(self):
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length", "0"))
        content = self.rfile.read(length)
        if len(content) < length:  # the client was killed while it sent this: no request came
            self.close_connection = True
            return
        answer = self.server.serve(self.command, url.path, dict(parse_qsl(url.query)), self.headers, content)
        if answer is None:
            self.close_connection = True
            return
        status, headers, text = answer
        data = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = len(data) != int(headers.get("Content-Length", len(data)))

    do_GET = do_POST = do_DELETE = _serve


class RawServer:
    """`answer(number of the call from 1, body)` gives the answer. bodies, headers: what came."""

    def __init__(self, answer):
        self.answer = answer
        self.bodies = []
        self.headers = []  # type: tuple[Any, list[dict[str, Any]], list[dict[str, str]]]
        self._lock = threading.Lock()

    def _serve(self, _, path, __, headers, content):
        if not content:
            return error(404, f"nothing at {path}")
        with self._lock:
            self.bodies.append(json.loads(content))
            self.headers.append({name.lower(): value for name, value in headers.items()})
            number = len(self.bodies)
        return self.answer(number, self.bodies[number - 1])

    def __enter__(self):
        self._listener = Listener(self._serve)
        self.url = self._listener.url
        return self

    def __exit__(self, *_):
        self._listener.close()

    def settings(self, folder, **others):
        return Settings(
            **{
                "llm": "m",
                "llm_url": self.url,
                "llm_key": KEY,
                "llm_timeout": 5,
                "cache_dir": folder,
                **others,
            }
        )


class ModelServer:
    """replies: lines, a JSONL file, or a function of the body; what nothing answers gets 422. limit:
    worked on at once. accepts: `schema`, `json` or `plain`. refuses: parameters answered with 400. A batch is done at the second look."""

    def __init__(
        self,
        replies=(),
        *,
        faults=(),
        delay=0.0,
        limit=None,
        over_limit="wait",
        accepts="schema",
        refuses=(),
    ):
        lines = read_lines(replies) if isinstance(replies, (str, Path)) else replies
        self._find: Callable[[dict[str, Any]], Any] = lines if callable(lines) else Script(lines).find
        self._scripted = not callable(lines)
        self.faults = faults
        self.delay = delay
        self._accepts = accepts
        self._refuses = tuple(refuses)
        self._permits = threading.Semaphore(limit or 10_000)
        self._wait = over_limit == "wait"
        self.calls: list[Call] = []
        self._attempts: Counter[bytes] = Counter()
        self._numbers: Counter[str] = Counter()
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._ids = itertools.count(1)

    def __enter__(self):
        self._listener = Listener(self._serve)
        self.url = self._listener.url
        return self

    def __exit__(self, *_):
        self._closing.set()
        self._listener.close()

    @property
    def in_flight(self):
        with self._lock:
            return sum(call.status is None and not call.batch for call in self.calls)

    def count(self, endpoint="chat", *, stage=None, status=None, fault=None):
        """How many calls of an endpoint came, lines of batches too."""
        with self._lock:
            return sum(
                call.endpoint == endpoint
                and stage in (None, call.stage)
                and status in (None, call.status)
                and fault in (None, call.fault)
                for call in self.calls
            )

    def fault_counts(self):
        with self._lock:
            return dict(sorted(Counter(call.fault for call in self.calls if call.fault).items()))

    def _serve(self, method, path, query, headers, content):
        route = _ROUTE.fullmatch(path)
        if route is None:
            return error(404, f"Unknown request URL: {method} {path}")
        endpoint = route[1].partition("/")[0]
        id_ = route[2] or ""
        part = route[3] or ""
        body = json.loads(content or b"{}") if endpoint != "files" else {}
        call = self._arrived(endpoint, body)
        answer = None
        try:
            with self._permit(endpoint) as permitted:
                if permitted:
                    answer = self._worked(call, id_, part, content, query)
                else:
                    answer = error(429, "Too many requests at once", headers={"Retry-After": "1"})
        finally:
            call.status = answer[0] if answer else 0
            call.answered = time.monotonic()
        return answer

    def _arrived(self, endpoint, body, *, batch=False):
        digest = hashlib.blake2b(
            json.dumps(body.get("messages", body), sort_keys=True).encode(),
            digest_size=16,
            person=endpoint.encode(),
        ).digest()
        with self._lock:
            self._numbers[endpoint] += 1
            self._attempts[digest] += 1
            call = Call(
                endpoint,
                self._numbers[endpoint],
                body,
                digest,
                self._attempts[digest],
                batch,
                time.monotonic(),
            )
            self.calls.append(call)
        return call

    @contextlib.contextmanager
    def _permit(self, endpoint):
        if endpoint != "chat":
            yield True
        elif self._permits.acquire(blocking=self._wait):
            try:
                yield True
            finally:
                self._permits.release()
        else:
            yield False

    def _worked(self, call, id_, part, content, query):
        if call.endpoint == "chat" and (refusal := self._refusal(call.body)):
            return refusal
        fault = self._draw(call)
        kind, seconds = (fault.kind, fault.seconds) if fault else ("", None)
        if kind in REFUSED:
            return error(
                *REFUSED[kind],
                headers={"Retry-After": f"{1 if seconds is None else seconds:g}"}
                if kind == "rate_limit"
                else {},
            )
        if kind == "hang":
            self._closing.wait(30.0 if seconds is None else seconds)
        if kind in ("hang", "close"):
            return None
        if call.endpoint in ("files", "batches"):
            with self._lock:
                return (self._file if call.endpoint == "files" else self._batch)(
                    id_, part, content, call.body, query
                )
        self._closing.wait(self.delay)
        if call.endpoint == "chat":
            return self._chat(call.body, kind)
        return 200, {}, json.dumps({"object": "list", "data": [{"id": "test-model", "object": "model"}]})

    def _refusal(self, body):
        if unsupported := [name for name in self._refuses if body.get(name) is not None]:
            return error(
                400,
                f"Unsupported parameter: '{unsupported[0]}' is not supported with this model.",
                param=unsupported[0],
            )
        kind = (body.get("response_format") or {"type": "text"})["type"]
        if kind not in _TAKEN[self._accepts]:
            return error(
                400,
                f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model.",
                param="response_format",
            )
        if kind == "json_schema" and (wrong := schema_problem(body["response_format"]["json_schema"])):
            return error(400, wrong, param="response_format")
        if kind == "json_object" and not any(
            "json" in text_of(message).casefold() for message in body["messages"]
        ):
            return error(400, "'messages' must contain the word 'json' in some form", param="messages")
        return None

    def _draw(self, call):
        reached = Counter()  # shares of faults that fit the same request lie side by side
        for fault in self.faults:
            if fault.fits(call):
                start = float(reached[fault.seed])
                if start <= fault.chance(call) < start + fault.share:
                    call.fault = fault.kind
                    return fault
                reached[fault.seed] += fault.share  # type: ignore[assignment]
        return None

    def _chat(self, body, fault):
        line = self._find(body)
        if line is None:
            return error(
                422,
                f"No scripted reply answers this request: {stage_of(body)}, {user_text(body)[-80:]!r}",
                "no_scripted_reply",
            )
        line = line if self._scripted else {"reply": line}
        reply = line.get("reply", "")
        finish = line.get("finish_reason", "stop")
        refusal = line.get("refusal")
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        text = text[: len(text) // 2] if fault in ("length", "invalid") else "" if fault in SPOILED else text
        text = '{"unexpected": [1, 2, 3]}' if fault == "wrong_schema" else text
        finish = fault if fault in ("length", "content_filter") else finish
        refusal = "I'm sorry, but I can't help with that." if fault == "refusal" else refusal
        prompt = sum(4 + count_tokens(text_of(message)) for message in body["messages"])
        counts = {
            "prompt_tokens": prompt,
            "completion_tokens": count_tokens(text),
            **(line.get("usage") or {}),
        }
        usage = {**counts, "total_tokens": sum(counts.values())}
        if body.get("stream"):
            last = [
                {
                    "choices": [
                        {
                            "index": 0,
                            "delta": {"refusal": refusal} if refusal else {},
                            "finish_reason": finish,
                        }
                    ]
                }
            ]
            last += (
                [{"choices": [], "usage": usage}]
                if (body.get("stream_options") or {}).get("include_usage")
                else []
            )
            return events(*(text[start : start + 24] for start in range(0, len(text), 24)), *last)
        return ok("" if refusal else text, finish=finish, usage=usage, refusal=refusal)

    def _file(self, id_, part, content, _, __):
        if not id_:
            id_ = f"file-{next(self._ids)}"
            boundary = content.split(b"\r\n", 1)[0]
            self._files[id_] = next(
                p.split(b"\r\n\r\n", 1)[1][:-2] for p in content.split(boundary) if b"filename=" in p
            )
        if id_ not in self._files:
            return error(404, f"No such File object: {id_}")
        if part == "content":
            return 200, {"Content-Type": "application/octet-stream"}, self._files[id_].decode()
        return (
            200,
            {},
            json.dumps(
                {
                    "id": id_,
                    "object": "file",
                    "bytes": 1,
                    "created_at": 1,
                    "filename": "f",
                    "purpose": "batch",
                    "status": "processed",
                }
            ),
        )

    def _batch(self, id_, _, __, body, ___):
        if body:
            id_ = f"batch_{len(self._batches) + 1}"
            shown = {
                "id": id_,
                "object": "batch",
                "endpoint": body["endpoint"],
                "errors": None,
                "input_file_id": body["input_file_id"],
                "created_at": 1,
            }
            shown |= {
                "completion_window": "24h",
                "status": "validating",
                "output_file_id": None,
                "error_file_id": None,
                "metadata": body.get("metadata"),
            }
            self._batches[id_] = {
                **shown,
                "request_counts": {"total": 0, "completed": 0, "failed": 0},
                "looks": 0,
            }
        elif not id_:
            return (
                200,
                {},
                json.dumps(
                    {
                        "object": "list",
                        "data": [self._look(batch) for batch in reversed(self._batches.values())],
                        "has_more": False,
                    }
                ),
            )
        if id_ not in self._batches:
            return error(404, f"No batch found with id '{id_}'.")
        return 200, {}, json.dumps(self._batches[id_] if body else self._look(self._batches[id_]))

    def _look(self, batch):
        """A poll; the one that completes a batch runs it."""
        batch["looks"] += 1
        if batch["status"] == "validating" and batch["looks"] >= 2:
            outputs = {"output": [], "error": []}
            for line in map(json.loads, self._files[batch["input_file_id"]].splitlines()):
                call = self._arrived("chat", line["body"], batch=True)
                fault = self._draw(call)
                kind = fault.kind if fault else ""
                status, _, text = (
                    error(*REFUSED.get(kind, REFUSED["server_error"]))
                    if kind in (*REFUSED, "expired")
                    else self._chat(line["body"], kind)
                )
                call.status = status
                call.answered = time.monotonic()
                answer = {
                    "id": "r",
                    "custom_id": line["custom_id"],
                    "response": {"status_code": status, "body": json.loads(text)},
                    "error": None,
                }
                outputs["output" if status == 200 else "error"].append(json.dumps(answer))
            for name, lines in outputs.items():
                if lines:
                    batch[f"{name}_file_id"] = id_ = f"file-{next(self._ids)}"
                    self._files[id_] = "\n".join(lines).encode()
            done = len(outputs["output"])
            batch.update(
                status="completed",
                request_counts={
                    "total": done + len(outputs["error"]),
                    "completed": done,
                    "failed": len(outputs["error"]),
                },
            )
        return batch


def schema_problem(asked):
    """What OpenAI would have against a schema that is to be kept to strictly."""
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", asked["name"]):
        return "Invalid 'response_format.json_schema.name'."
    open_ = [asked["schema"]] if asked.get("strict") else []
    while open_:
        schema = open_.pop()
        properties = schema.get("properties", {})
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(properties)
        ):
            return f"Invalid schema for response_format '{asked['name']}': 'required' must name every key and 'additionalProperties' be false."
        open_ += [
            *properties.values(),
            *schema.get("anyOf", ()),
            *([schema["items"]] if "items" in schema else []),
        ]
    return None
