"""Clients for the tests of the model server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx
from openai import OpenAI

from gsw_graph.testing import ModelServer

KEY = "sk-very-secret"
SCHEMA = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"], "additionalProperties": False}


@contextlib.contextmanager
def client(server: ModelServer, timeout: float = 10.0) -> Iterator[OpenAI]:
    """The real SDK, which tries nothing twice."""
    with OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=timeout) as openai:
        yield openai


def schema(name: str, of: dict[str, Any] | None = None, strict: bool = True) -> Any:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": of or SCHEMA, "strict": strict}}


def ask(openai: OpenAI, said: str, system: str = "", **options: Any) -> Any:
    """One completion."""
    messages: Any = [{"role": "system", "content": system}] if system else []
    return openai.chat.completions.create(model="any", messages=[*messages, {"role": "user", "content": said}], **options)


def post(server: ModelServer, path: str, body: dict[str, Any]) -> httpx.Response:
    """Without the SDK."""
    return httpx.post(f"{server.url}{path}", json=body, trust_env=False, timeout=10)
