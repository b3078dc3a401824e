"""Every command beside a `gswgraph serve` that has the memory open, a process of its own: it goes through the server, or says in one sentence
that it needs the memory for itself."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
ALONE = "a server has this memory open, and gswgraph {} needs it for itself"
SETTINGS = "does not go through a server"
# Of every command: how it is called, its exit code, and a piece of what it says. FOLDER and FILES are made by the test.
BESIDE: dict[str, list[tuple[list[str], int, str]]] = {
    "demo": [(["--memory", "FOLDER", "demo"], 0, "Ottilie Grau")],
    "load": [
        (["load", "note.md"], 0, "1 new"),
        (["load", "--json", "--meta", "by=Ana", "--near", "0.99", "note.md"], 0, '"unchanged": 1'),
        (["load", "--dry-run", "note.md", "other.md"], 0, "Would load: 1 new"),
        (["load", "--extractor", "rules", "--replace", "-q", "note.md"], 0, ""),
        (["load", "--llm", "other", "note.md"], 1, f"--llm {SETTINGS}"),
        (["load", "--concurrency", "2", "note.md"], 1, f"--concurrency {SETTINGS}"),
        (["load", "nosuch.md"], 1, "nosuch.md"),
    ],
    "add": [(["add", "--session", "call", "--speaker", "Ana", "--at", "2026-03-09", "The ferry is late."], 0, "Added as passage")],
    "ask": [
        (["ask", BUILT], 0, "Ana Ruiz"),
        (["ask", "--json", "-k", "2", "--strategy", "bm25", "--timings", BUILT], 0, '"strategy": "bm25"'),
        (["ask", "--plan", '["Who built the Stone Pier?"]', "--no-llm", "--no-question-cache", BUILT], 0, "Ana Ruiz"),
        (["ask", "--in", "note.md", "--not-in", "other.md", BUILT], 0, "note.md"),
        (["ask", "--in", "nosuch/", BUILT], 1, "no source is, or is under"),
        (["ask", "--trace", "--html", "answer.html", "--where", "by = Ana", "--forget-question", "Who lit the Quellam Lamp?"], 0, "Picture: "),
        (["ask", "--browse", BUILT], 0, "A memory in a folder has no Neo4j Browser"),
        (["ask", "--show-cypher", BUILT], 1, f"--show-cypher {SETTINGS}"),
        (["ask", "--llm", "other", BUILT], 1, f"--llm {SETTINGS}"),
        (["ask", "--no-question-cache", BUILT], 0, "Ana Ruiz"),
    ],
    "confirm": [(["confirm", "1"], 0, "Confirmed")],
    "reject": [(["reject", "1"], 0, "Rejected"), (["reject", "fffffffff"], 1, "no question")],
    "history": [(["history"], 0, BUILT), (["history", "1"], 0, BUILT), (["history", "--find", "pier", "-n", "1", "--json"], 0, '"questions"')],
    "list": [(["list"], 0, "note.md"), (["list", "note.md", "--extractor", "rules", "--json"], 0, '"total": 1')],
    "show": [(["show", "note.md"], 0, "Zorvik"), (["show", "Stone Pier", "-p", "1", "--json"], 0, '"passages"')],
    "serve": [(["serve", "--port", "0"], 1, ALONE.format("serve"))],
    "mcp": [],  # a test of its own, as it is a process that goes on
    "browse": [(["browse"], 0, "The picture is"), (["browse", "--json"], 1, "a memory in a folder has no Neo4j Browser")],
    "eval run": [(["eval", "run", "questions.jsonl"], 1, ALONE.format("eval")), (["eval", "questions.jsonl"], 1, ALONE.format("eval"))],
    "eval compare": [(["eval", "compare", "nosuch", "nosuch"], 2, "does not exist")],
    "eval corpus": [(["eval", "corpus", "questions.jsonl"], 1, "there are no passages")],
    "eval fit": [(["eval", "fit", "questions.jsonl", "--out", "fit.json"], 1, ALONE.format("eval fit"))],
    "copy": [(["copy", "FOLDER", "copy"], 1, ALONE.format("copy")), (["copy", "nosuch", "FOLDER"], 1, ALONE.format("copy"))],
    "dump": [(["dump", "dump.jsonl"], 1, ALONE.format("dump"))],
    "restore": [(["restore", "questions.jsonl"], 1, ALONE.format("restore"))],
    "status": [(["status"], 0, "embedder"), (["status", "--json"], 0, '"nodes"')],
    "memories": [(["memories"], 0, "(the default memory)"), (["memories", "--json"], 0, '"memories"')],
    "doctor": [(["doctor"], 1, ALONE.format("doctor")), (["doctor", "--mend", "--deep"], 1, ALONE.format("doctor"))],
    "merge": [(["merge", "--dry-run"], 1, ALONE.format("merge")), (["merge", "--show"], 1, ALONE.format("merge"))],
    "unmerge": [(["unmerge", "all"], 1, ALONE.format("unmerge"))],
    "correct": [
        (["correct", "rename", "Bruno Keller", "Bruno Kehler"], 0, "target: Bruno Keller, value: Bruno Kehler"),
        (["correct", "split", "Zorvik", "Zorvik (engineer)", "note.md"], 0, "Zorvik"),
        (["correct", "add", "Who owns the Stone Pier?", "Ana Ruiz", "--by", "Ana"], 0, "Take it back"),
        (["correct", "--list", "--json"], 0, '"corrections"'),
        (["correct", "--undo", "fffffff0"], 1, "there is no correction"),
    ],
    "forget": [(["forget", "other.md"], 1, "Unknown"), (["forget", "--yes", "note.md"], 0, "Forgot 1 document")],
    "ledger": [(["ledger"], 0, "No language model was asked yet")],
    "cypher": [
        (["cypher", "--list"], 0, "most_mentioned"),
        (["cypher", "most_mentioned", "limit=2", "--timeout", "50"], 0, "2 rows"),
        (["cypher", "MATCH (d:Document {title: $t}) RETURN d.title AS t", "-p", "t=Stone Pier", "--csv"], 0, "Stone Pier"),
        (["cypher", "--write", "MATCH (q:Question) DETACH DELETE q RETURN count(*) AS n"], 0, "n"),
    ],
    "draw": [(["draw", "MATCH (d:Document) RETURN d LIMIT 2", "--html", "drawn.html", "--timeout", "50"], 0, "drawn: ")],
    "db start": [],  # no memory in a folder, and it would start a Neo4j
    "db stop": [(["db", "stop"], 0, "No private Neo4j is running")],
    "db status": [(["db", "status"], 0, "There is no private Neo4j yet")],
}
ORDER = ("load", "ask", "history", "confirm", "reject", *(name for name in BESIDE if name not in ("load", "ask", "history", "confirm", "reject", "forget")), "forget")


def commands(group: click.Group, before: str = "") -> Iterator[str]:
    """Yield the names of all commands of a group, those of its groups with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.resolve_command(context, [name])[1]
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
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


def test_every_command_has_a_decision() -> None:
    assert set(BESIDE) == set(commands(main))


@pytest.mark.parametrize("name", ORDER)
def test_a_command_beside_a_server(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setenv("GSWGRAPH_CACHE", str(place / "cache"))
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setattr("gsw_graph.explore.browser.webbrowser.open", lambda _: False)
    monkeypatch.chdir(place)
    memory = str(place / "memory")
    for args, code, text in BESIDE[name]:
        call = [memory if arg == "FOLDER" else arg for arg in args]
        done = run(*(call if "FOLDER" in args else ["--memory", memory, *call]))
        assert done.exit_code == code, (args, done.output)
        assert text in done.output, (args, done.output)
        assert "Traceback" not in done.output


def test_an_agent_over_standard_input_beside_a_server(place: Path) -> None:
    """Both are processes of their own; `serve.md` and `mcp --help` promise that the agent goes through the server."""
    reads = ["search", "ask", "follow_name", "read", "status"]
    writes = ["add_document", "remember", "forget_document", "judge_answer"]

    async def call(client: Client, name: str, /, **arguments: Any) -> str:
        result = await client.call_tool(name, arguments)
        text = "".join(part.text for part in result.content)
        assert not result.is_error, (name, text)
        return text

    async def look(*options: str) -> list[str]:
        command = [str(part) for part in COMMAND[1:]]
        started = StdioServerParameters(command=sys.executable, args=[*command, "--memory", str(place / "memory"), "mcp", *options], env=dict(os.environ))
        async with Client(stdio_client(started)) as client:
            assert "Ana Ruiz" in await call(client, "ask", question=BUILT)
            assert "Stone Pier" in await call(client, "search", question=BUILT, k=2, shown=[])
            assert "Ana Ruiz" in await call(client, "follow_name", name="ana ruiz")
            assert "Stone Pier" in await call(client, "read", id="Stone Pier")
            assert "Passage" in await call(client, "status")
            names = [tool.name for tool in (await client.list_tools()).tools]
            if not options:
                assert '"new": 1' in await call(client, "add_document", title="Lamp", text="The lamp is dark.")
                assert "remembered" in await call(client, "remember", text="It is late.", session="agents")
                answer = json.loads(await call(client, "ask", question=BUILT))
                assert "rejected" in await call(client, "judge_answer", question=answer["id"], right=False)
                assert "note:Lamp" in await call(client, "forget_document", source="note:Lamp")
            return names

    assert anyio.run(look) == [*reads, *writes]
    assert anyio.run(look, "--read-only") == reads
