"""A server of a memory in this process, on a port of its own, asked by real HTTP clients."""

from __future__ import annotations

import contextlib
import threading
import time

import httpx

from gsw_graph.serve.app import BindAddress, listen, make_server
from gsw_graph.serve.context import AppState, Limits

OWNER = "owner-token-of-this-test"


class Served:
    """Where it is, and a client of it."""

    def __init__(self, address, state):
        self.url = address.url
        self.state = state
        self.address = address
        self.client = httpx.Client(base_url=address.url, timeout=60, trust_env=False)

    def ask(self, question, **how):
        reply = self.client.post("/api/ask", json={"question": question, **how})
        assert reply.status_code == 200, reply.text
        return reply.json()

    def load(self, **files):
        reply = self.client.post(
            "/api/load", files=[("files", (f"{name}.md", text.encode())) for name, text in files.items()]
        )
        assert reply.status_code == 200, reply.text
        return reply.json()

    def sources(self):
        return {
            document["source"]
            for document in self.client.get("/api/documents", params={"limit": 10_000}).json()["documents"]
        }

    def owner(self):
        return {"Authorization": f"Bearer {OWNER}"}


def events(text):
    """The events of a stream: names, and their data."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(lines[0].removeprefix("event: "), lines[1].removeprefix("data: ")) for lines in blocks]


@contextlib.contextmanager
def served(memory, *, read_only=False, token=None, names=(), origins=(), **limits):
    state = AppState(memory, Limits(**limits), read_only=read_only)
    with listen(BindAddress(port=0, token=token, names=names, origins=origins)) as (opened, address):
        made = make_server(state, address, OWNER)
        thread = threading.Thread(target=made.run, kwargs={"sockets": [opened]})
        thread.start()
        end = time.monotonic() + 30
        while not made.started and thread.is_alive() and time.monotonic() < end:
            time.sleep(0.02)
        found = Served(address, state)
        try:
            yield found
        finally:
            found.client.close()
            made.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
