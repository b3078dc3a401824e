"""Serve recorded replies as a language model would give them: an OpenAI-compatible server on this machine.

    python examples/replay.py examples/replies.jsonl examples/agents.jsonl

Prints what to set, then serves until it is ended. A line of a file is

    {"when": {"stage": "extract", "contains": ["text", ...]}, "reply": {...} or "text"}

`stage` is the name of the JSON schema asked for, or of the prompt of gswgraph that was sent. A text of
`contains` occurs in the user messages; `key` is a whole text between the marks that gswgraph puts around a
passage; `request` is the hash of the whole request. Of several lines that match, the most specific answers.
A line `{"written by": ...}` says whose words the replies are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import threading
import time
from collections.abc import Iterable, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

_FENCED = re.compile(r"<<<(\w+ \w+)\n(.*?)\n\1>>>", re.DOTALL)
_WHEN = {"request", "stage", "key", "contains"}


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its content, or the texts of its parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content)
    return content if isinstance(content, str) else ""


def user_text(body: Mapping[str, Any]) -> str:
    """Return what the user messages of a request say."""
    return "\n".join(text_of(message) for message in body["messages"] if message.get("role") == "user")


def stage_of(body: Mapping[str, Any]) -> str:
    """Return what a request is for: the name of its schema, else of the prompt in its system message."""
    schema = (body.get("response_format") or {}).get("json_schema") or {}
    if name := schema.get("name"):
        return str(name)
    system = "\n".join(text_of(message) for message in body["messages"] if message.get("role") == "system")
    return next((name for name, prompt in _prompts().items() if prompt and prompt in system), "")


def schema_of(body: Mapping[str, Any]) -> Any:
    """Return the JSON schema that a request asks for; None where it asks for a text."""
    form = body.get("response_format") or {}
    if form.get("type") not in ("json_schema", "json_object"):
        return None
    return (form.get("json_schema") or {}).get("schema") or {"type": "object"}


def request_id(body: Mapping[str, Any]) -> str:
    """Return the hash of a request: the same for the same messages and schema."""
    request = json.dumps([body["messages"], schema_of(body)], sort_keys=True).encode()
    return hashlib.blake2b(request, digest_size=16, person=b"request").hexdigest()


class Script:
    """Recorded replies, found by what a request says. ValueError: a line is not one of a recording."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self._by_id: dict[str, list[tuple[Any, ...]]] = {}
        self._others: list[tuple[Any, ...]] = []
        for number, line in enumerate(lines, 1):
            if "written by" in line:
                continue
            when = line.get("when", {})
            if not {"reply", "refusal"} & line.keys() or when.keys() - _WHEN:
                raise ValueError(f"line {number} is not a recorded reply: {json.dumps(line)[:80]}")
            contains = when.get("contains", [])
            texts = [_one_space(text) for text in ([contains] if isinstance(contains, str) else contains)]
            id_ = when.get("request") or (_one_space(when["key"]) if "key" in when else None)
            weight = bool(id_), sum(map(len, texts)), "stage" in when, -number
            entry = weight, when.get("stage"), texts, line
            (self._others if id_ is None else self._by_id.setdefault(id_, [])).append(entry)

    def find(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the line that answers a request."""
        prompt, stage = user_text(body), stage_of(body)
        text = _one_space(prompt)
        ids = {request_id(body), *(_one_space(part) for _, part in _FENCED.findall(prompt))}
        candidates = [*self._others, *(entry for id_ in ids for entry in self._by_id.get(id_, ()))]
        matching = [e for e in candidates if e[1] in (None, stage) and all(part in text for part in e[2])]
        return max(matching, key=lambda entry: entry[0])[3] if matching else None


def read_lines(*paths: str | Path) -> list[dict[str, Any]]:
    """Read the lines of JSONL files."""
    texts = [Path(path).read_text(encoding="utf-8-sig") for path in paths]
    return [json.loads(line) for text in texts for line in text.split("\n") if line.strip()]


@cache
def _prompts() -> dict[str, str]:
    prompts = [file for file in files("gsw_graph.models.prompts").iterdir() if file.name.endswith(".md")]
    return {file.name[:-3]: file.read_text(encoding="utf-8").strip() for file in prompts}


def _one_space(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """Serve the replies of some files until the process is ended."""
    parser = argparse.ArgumentParser(description="Serve recorded replies as an OpenAI-compatible server.")
    parser.add_argument("replies", nargs="+", help="JSONL files")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each reply takes")
    parser.add_argument("--limit", type=int, default=1000, help="replies at once; others wait")
    options = parser.parse_args()
    script, permits = Script(read_lines(*options.replies)), threading.Semaphore(options.limit)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with permits:
                time.sleep(options.delay)
            line = script.find(body)
            if line is None:
                wrong = f"no reply is recorded to {user_text(body)[-80:]!r}"
                return self.send(422, {"error": {"message": wrong}})
            reply = line["reply"]
            text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
            choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
            if body.get("stream"):
                return self.send(200, {"choices": [{**choice, "delta": {"content": text}}]}, stream=True)
            message = {"role": "assistant", "content": text}
            counts = [sum(len(text_of(message)) for message in body["messages"]) // 4, len(text) // 4]
            usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}
            return self.send(200, {"choices": [{**choice, "message": message}], "usage": usage})

        def send(self, status: int, answer: Any, *, stream: bool = False) -> None:
            data = json.dumps({"id": "1", "object": "chat.completion", "model": "recorded", **answer})
            content = (f"data: {data}\n\ndata: [DONE]\n\n" if stream else data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1")
    print("export OPENAI_API_KEY=none\nexport OPENAI_MODEL=recorded", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
