"""A server on this machine that answers with the very bytes a test gives, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gsw_graph.config import Settings

Answer = tuple[int, dict[str, str], str]
KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


class RawServer:
    """`answer(number of the call from 1, body)` gives status, headers and body. bodies, headers: what came."""

    def __init__(self, answer: Callable[[int, dict[str, Any]], Answer]) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    outer.bodies.append(body)
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                    number = len(outer.bodies)
                status, headers, text = outer.answer(number, body)
                data = text.encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that did not wait
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> RawServer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def settings(self, folder: Path, **others: Any) -> Settings:
        return Settings(**{"llm": "m", "llm_url": self.url, "llm_key": KEY, "llm_timeout": 5, "cache_dir": folder, **others})


def ok(content: Any, *, finish: str = "stop", usage: dict[str, int] | None = None, **message: Any) -> Answer:
    """A chat completion with this content: a text as it is, anything else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    data: dict[str, Any] = {"choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}]}
    if usage is not None:
        data["usage"] = usage
    return 200, {}, json.dumps(data)


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    """An error as OpenAI writes it."""
    return status, headers or {}, json.dumps({"error": {"message": message, "type": None, "param": None, "code": code, **more}})
