"""How many calls a server works on at once, where it can be known: llama.cpp's says so, OpenAI's protocol
has no word for it."""

from __future__ import annotations

from typing import Any

import httpx

from gsw_graph.inference.bodies import BodyError, hooks
from gsw_graph.inference.endpoint import Endpoint

TIMEOUT = 5.0  # seconds


def slots(end: Endpoint) -> int | None:
    """`total_slots` of llama.cpp's `/props`, beside the `/v1` of its url; None where the server has no
    such thing."""
    if end.host == "api.openai.com":
        return None
    root = end.url.copy_with(path=end.url.path.rstrip("/").removesuffix("/v1") + "/props", query=None)
    headers = {"Authorization": f"Bearer {end.key}"} if end.key else {}
    try:
        with httpx.Client(
            timeout=TIMEOUT, event_hooks=hooks(), follow_redirects=False, trust_env=not end.here
        ) as client:
            said: Any = client.get(root, headers=headers).json()
    except (httpx.HTTPError, BodyError, ValueError, RecursionError):
        return None
    found = said.get("total_slots") if isinstance(said, dict) else None
    return found if isinstance(found, int) and 0 < found < 100_000 else None
