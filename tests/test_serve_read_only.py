"""What `serve --read-only` promises: no route and no tool writes, whoever asks. The routes are those that the application has, so a new one is
asked too."""

from __future__ import annotations

import anyio
import contract
import pytest
import served
from mcp import Client
from test_serve_mcp import TOOLS

from gsw_graph.serve.app import described

BUILT = "Who built the Stone Pier?"
WRITE = {"query": "MATCH (p:Passage) SET p.seen = true RETURN count(p)"}
# Of every route that takes a body the requests that would write, or might. The others are asked as they are.
REQUESTS = {
    "POST /api/ask": [
        {"json": {"question": BUILT, "keep": True, "build_runs": True, "strategy": name}}
        for name in ("auto", "pruned", "linked", "ricr")
    ],
    "POST /api/search": [
        {"json": {"question": BUILT, "strategy": name}} for name in ("auto", "pruned", "dense")
    ],
    "POST /api/retrieve": [
        {"json": {"queries": [BUILT], "strategy": name, "unit": unit}}
        for name in ("pruned", "dense")
        for unit in ("passages", "pairs", "both")
    ],
    "POST /api/questions/{which}/confirm": [{}],
    "POST /api/questions/{which}/reject": [{}],
    "POST /api/draw": [{"json": WRITE}, {"json": {"query": "MATCH (p:Passage) RETURN p"}}],
    "POST /api/analyses/{name}": [{"json": {}}],
    "POST /api/cypher": [{"json": WRITE}, {"json": {**WRITE, "write": True}}],
    "POST /api/turns": [{"json": {"text": "It is late."}}],
    "POST /api/corrections": [
        {"json": {"action": "rename", "values": ["Ana Ruiz", "Ana Reis"]}},
        {"json": {"action": "add", "values": [BUILT, "Bruno Keller"]}},
    ],
    "POST /api/corrections/{which}/undo": [{}],
    "POST /api/load/paths": [{"json": {"paths": [contract.CORPUS]}}],
    "POST /api/forget": [{"json": {"everything": True}}, {"json": {"sources": ["Stone Pier"]}}],
    "POST /api/load": [
        {"files": {"files": ("new.md", b"# New\n\nNobody wrote it.")}},
        {"files": {"files": ("new.md", b"New.")}, "data": {"dry_run": "true"}},
    ],
}
NAMES = {"which": "1", "name": "Stone Pier"}
# Of every tool the arguments that would write.
ARGUMENTS = {
    "search": {"question": BUILT},
    "ask": {"question": BUILT},
    "follow_name": {"name": "Ana Ruiz"},
    "read": {"id": "Stone Pier"},
    "status": {},
    "add_document": {"title": "New", "text": "Nobody wrote it."},
    "remember": {"text": "It is late."},
    "forget_document": {"source": "Stone Pier"},
    "judge_answer": {"question": "1" * 8, "right": True},
}


@pytest.fixture
def lines(tmp_path):
    """Gives all that a memory holds, a node or a relationship a line."""

    def dumped(memory):
        file = tmp_path / "dump.jsonl"
        memory.dump(file)
        held = sorted(file.read_text(encoding="utf-8").splitlines())
        file.unlink()
        return held

    return dumped


def routes():
    """The routes of the application, each by its method and path."""
    paths = described().openapi()["paths"]
    return {
        f"{method.upper()} {path}": (method, path) for path, methods in paths.items() for method in methods
    }


def test_read_only_has_a_request_of_every_route_and_tool():
    assert set(REQUESTS) == {route for route in routes() if not route.startswith("GET ")}
    assert set(ARGUMENTS) == set(TOOLS)


def test_no_route_writes_where_only_reading_is_allowed(sample, lines):
    sample.ask(BUILT)  # a question that could be judged
    with served.served(sample, read_only=True) as server:
        before = lines(sample)
        for headers in ({}, server.owner()):
            for route, (method, path) in routes().items():
                for request in REQUESTS.get(route, [{}]):
                    reply = server.client.request(method, path.format(**NAMES), headers=headers, **request)
                    assert reply.status_code < 500, (route, reply.text)
                    assert lines(sample) == before, (route, request, headers)


def test_no_tool_writes_where_only_reading_is_allowed(sample, lines):
    sample.ask(BUILT)

    async def call(server):
        async with Client(f"{server.url}/mcp") as client:
            for name, arguments in ARGUMENTS.items():
                await client.call_tool(name, arguments)

    with served.served(sample, read_only=True) as server:
        before = lines(sample)
        anyio.run(call, server)
    assert lines(sample) == before


def test_a_read_only_server_makes_no_indexes(sample, lines):
    """A load that was cut off left none; who may not write is told so, and who may makes them."""
    with sample._connection.session() as session:
        session.run("MATCH (m:Memory) SET m.indexed = false").consume()
    sample._state = None
    before = lines(sample)
    with served.served(sample, read_only=True) as server:
        for path, body in (
            ("ask", {"question": BUILT}),
            ("search", {"question": BUILT}),
            ("retrieve", {"queries": [BUILT]}),
        ):
            reply = server.client.post(f"/api/{path}", json=body)
            assert reply.status_code == 502
            assert "no search indexes yet" in reply.json()["error"]
            assert "doctor --mend" in reply.json()["hint"]
    assert lines(sample) == before
    assert sample.ask(BUILT, keep=False).passages
