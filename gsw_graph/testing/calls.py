"""What came to the model server and what it answered."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gsw_graph.testing.tokens import text_of

_SHORT = 60  # characters of a question in a message


@dataclass(slots=True)
class Call:
    """One request. Headers are not kept, so that no key is.

    endpoint: `chat`, `embeddings`, `rerank`, `files`, `batches` or `models`. number: counts the calls of the
    endpoint from 1, in the order of arrival. stage: of chat, see `stage_of`. body: the JSON sent, empty where
    there is none. attempt: how often the same content came by now, from 1. batch: the id of the batch that
    this is a line of, or empty. status: HTTP status of the answer; 0 where the connection was closed without
    one, None until it is answered. fault: the kind that was scripted, or empty. arrived, answered: seconds
    of `time.monotonic()`, taken before the answer is written.
    """

    endpoint: str
    number: int
    stage: str
    body: Mapping[str, Any]
    digest: bytes
    attempt: int
    batch: str
    arrived: float
    status: int | None = None
    fault: str = ""
    answered: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Of a chat call."""
        messages = self.body.get("messages")
        return (
            [message for message in messages if isinstance(message, dict)]
            if isinstance(messages, list)
            else []
        )

    @property
    def said(self) -> str:
        """All that the user messages say; a call that repairs a reply has what was asked in the first of
        them."""
        return "\n".join(text_of(message) for message in self.messages if message.get("role") == "user")

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """What JSON it asks for: its schema, any object in JSON mode, None for a text."""
        asked = self.body.get("response_format")
        if not isinstance(asked, Mapping) or asked.get("type") not in ("json_schema", "json_object"):
            return None
        given = asked.get("json_schema")
        schema = given.get("schema") if isinstance(given, Mapping) else None
        return schema if isinstance(schema, Mapping) else {"type": "object"}

    @property
    def request(self) -> str:
        """Names what is asked: the same for the same messages and schema, whatever model, temperature or
        stream is asked for."""
        return request_id(self.messages, self.schema)

    @property
    def asks(self) -> str:
        """What it asks, in a few words: its question, else how the user messages begin."""
        lines = [line for line in self.said.splitlines() if line.strip()]
        asked = next(
            (line for line in reversed(lines) if line.startswith("Question: ")), lines[0] if lines else ""
        )
        return asked if len(asked) <= _SHORT else f"{asked[:_SHORT]}…"


def request_id(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> str:
    """The hash of a chat request: 32 hexadecimal digits."""
    asked = json.dumps([list(messages), schema], sort_keys=True).encode()
    return hashlib.blake2b(asked, digest_size=16, person=b"request").hexdigest()


def stage_of(body: Mapping[str, Any]) -> str:
    """What a chat request is for: the name of its JSON schema, else of the prompt of ours
    (`gsw_graph/prompts/NAME.md`) in its system message, else empty."""
    asked = body.get("response_format")
    schema = asked.get("json_schema") if isinstance(asked, Mapping) else None
    if isinstance(schema, Mapping) and isinstance(name := schema.get("name"), str):
        return name
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping) and message.get("role") in ("system", "developer"):
            said = text_of(message)
            for name, prompt in _prompts().items():
                if prompt and prompt in said:
                    return name
    return ""


@cache
def _prompts() -> dict[str, str]:
    folder = files("gsw_graph.prompts")
    return {
        file.name[:-3]: file.read_text(encoding="utf-8").strip()
        for file in folder.iterdir()
        if file.name.endswith(".md")
    }


class CallLog:
    """Counts every call and keeps the last `keep` of them (None: all). Safe for threads."""

    def __init__(self, keep: int | None) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Call] = deque(maxlen=keep)
        self._numbers: Counter[str] = Counter()
        self._attempts: Counter[bytes] = Counter()
        self._arrived: Counter[tuple[str, str]] = Counter()
        self._answered: Counter[tuple[str, str, int, str]] = Counter()
        self._in_flight = self._most = 0

    def arrived(self, endpoint: str, body: Mapping[str, Any], content: bytes, batch: str = "") -> Call:
        """A call came. `content` is what makes it the same as another one; of chat it is the messages
        alone."""
        stage = stage_of(body) if endpoint == "chat" else ""
        if endpoint == "chat":
            content = json.dumps(body.get("messages"), sort_keys=True).encode()
        digest = hashlib.blake2b(content, digest_size=16, person=endpoint.encode()).digest()
        with self._lock:
            self._numbers[endpoint] += 1
            self._attempts[digest] += 1
            self._arrived[endpoint, stage] += 1
            call = Call(
                endpoint,
                self._numbers[endpoint],
                stage,
                body,
                digest,
                self._attempts[digest],
                batch,
                time.monotonic(),
            )
            self._kept.append(call)
            if not batch:
                self._in_flight += 1
                self._most = max(self._most, self._in_flight)
        return call

    def answered(self, call: Call, status: int) -> None:
        """Its answer is about to be written."""
        with self._lock:
            call.status, call.answered = status, time.monotonic()
            self._answered[call.endpoint, call.stage, status, call.fault] += 1
            if not call.batch:
                self._in_flight -= 1

    @property
    def kept(self) -> list[Call]:
        with self._lock:
            return list(self._kept)

    @property
    def in_flight(self) -> int:
        with self._lock:
            return self._in_flight

    @property
    def most_in_flight(self) -> int:
        with self._lock:
            return self._most

    def count(
        self, endpoint: str, stage: str | None = None, status: int | None = None, fault: str | None = None
    ) -> int:
        """How many came; with a status or a fault, how many were answered so."""
        with self._lock:
            if status is None and fault is None:
                return sum(n for (e, s), n in self._arrived.items() if e == endpoint and stage in (None, s))
            return sum(
                n
                for (e, s, answer, kind), n in self._answered.items()
                if e == endpoint and stage in (None, s) and status in (None, answer) and fault in (None, kind)
            )

    def faults(self) -> dict[str, int]:
        """How many calls each kind of fault struck."""
        found: Counter[str] = Counter()
        with self._lock:
            for (*_, kind), n in self._answered.items():
                if kind:
                    found[kind] += n
        return dict(sorted(found.items()))
