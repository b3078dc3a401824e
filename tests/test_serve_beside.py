"""Every command beside a `gswgraph serve` that has the memory open, a process of its own: it goes through the server, or says in one sentence
that it needs the memory for itself."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio
import click
import httpx
import pytest
import samples
from cli_runner import run
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from test_serve_process import COMMAND, bench

from gsw_graph.cli import main

BUILT = "Who built the Stone Pier?"
# Of every command: how it is called, its exit code, and a piece of what it says. FOLDER and FILES are made by the test.
BESIDE = json.loads((samples.DATA / "serve_beside.json").read_text(encoding="utf-8"))
ORDER = (
    "load",
    "ask",
    "history",
    "confirm",
    "reject",
    *(name for name in BESIDE if name not in ("load", "ask", "history", "confirm", "reject", "forget")),
    "forget",
)


def commands(group, before=""):
    """Yield the names of all commands of a group, those of its groups with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.resolve_command(context, [name])[1]
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a memory that a server in another process has open, and files to load."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "note.md").write_text("# Quellam\n\nZorvik lit the Quellam Lamp in 1931.", encoding="utf-8")
    (folder / "other.md").write_text("# Other\n\nNobody lit it.", encoding="utf-8")
    question = {"id": "q1", "question": BUILT, "answers": ["Ana Ruiz"], "sources": ["note.md"]}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    server = bench.Server(str(folder / "memory"), command=COMMAND)
    try:
        files = [("files", (Path(file).name, Path(file).read_bytes())) for file in samples.write(folder)]
        assert httpx.post(f"{server.url}/api/load", files=files, timeout=120).status_code == 200
        yield folder
        assert server.process.poll() is None, "the server goes on"
        assert "Traceback" not in server.log()
    finally:
        server.process.kill()
        server.process.wait()


def test_every_command_has_a_decision():
    assert set(BESIDE) == set(commands(main))


@pytest.mark.parametrize("name", ORDER)
def test_a_command_beside_a_server(name, place, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setenv("GSWGRAPH_CACHE", str(place / "cache"))
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setattr("gsw_graph.explore.browser.webbrowser.open", lambda _: False)
    monkeypatch.chdir(place)
    memory = str(place / "memory")
    for called in BESIDE[name]:
        args = called["args"]
        call = [memory if arg == "FOLDER" else arg for arg in args]
        if "FOLDER" not in args:
            call = ["--memory", memory, *call]
        done = run(*call)
        assert done.exit_code == called["code"], (args, done.output)
        assert called["says"] in done.output, (args, done.output)
        assert "Traceback" not in done.output


def test_an_agent_over_standard_input_beside_a_server(place):
    """Both are processes of their own; `serve.md` and `mcp --help` promise that the agent goes through the server."""
    reads = ["search", "ask", "follow_name", "read", "status"]
    writes = ["add_document", "remember", "forget_document", "judge_answer"]

    async def call(client, name, /, **arguments):
        result = await client.call_tool(name, arguments)
        text = "".join(part.text for part in result.content)
        assert not result.is_error, (name, text)
        return text

    async def look(*options):
        command = [str(part) for part in COMMAND[1:]]
        started = StdioServerParameters(
            command=sys.executable,
            args=[*command, "--memory", str(place / "memory"), "mcp", *options],
            env=dict(os.environ),
        )
        async with Client(stdio_client(started)) as client:
            assert "Ana Ruiz" in await call(client, "ask", question=BUILT)
            assert "Stone Pier" in await call(client, "search", question=BUILT, k=2, shown=[])
            assert "Ana Ruiz" in await call(client, "follow_name", name="ana ruiz")
            assert "Stone Pier" in await call(client, "read", id="Stone Pier")
            assert "Passage" in await call(client, "status")
            names = [tool.name for tool in (await client.list_tools()).tools]
            if not options:
                assert '"new": 1' in await call(
                    client, "add_document", title="Lamp", text="The lamp is dark."
                )
                assert "remembered" in await call(client, "remember", text="It is late.", session="agents")
                answer = json.loads(await call(client, "ask", question=BUILT))
                assert "rejected" in await call(client, "judge_answer", question=answer["id"], right=False)
                assert "note:Lamp" in await call(client, "forget_document", source="note:Lamp")
            return names

    assert anyio.run(look) == [*reads, *writes]
    assert anyio.run(look, "--read-only") == reads
