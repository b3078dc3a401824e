"""`gswgraph serve` as a process: many clients at once, the command line through it, its end by SIGTERM and by kill -9."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import signal
import sys
from pathlib import Path

import engines
import httpx
from cli_runner import run

from gsw_graph.serve.app import TOKEN_VARIABLE as TOKEN

ROOT = Path(__file__).parent.parent
CORPUS = str(ROOT / "examples/corpus")
COMMAND = (sys.executable, str(ROOT / "tests/serve_runner.py"))
HARBOUR = "Where is the harbour of Port Aldous?"


def _bench():
    """bench/serve.py, whose clients these are too."""
    made = importlib.util.spec_from_file_location("bench_serve", ROOT / "bench/serve.py")
    assert made
    assert made.loader
    module = importlib.util.module_from_spec(made)
    sys.modules[made.name] = module
    made.loader.exec_module(module)
    return module


bench = _bench()


def test_many_clients_ask_and_load_and_nothing_acknowledged_is_lost(fresh_settings, tmp_path, monkeypatch):
    if password := engines.own_replies(fresh_settings, tmp_path / "cache").password:
        monkeypatch.setenv("NEO4J_PASSWORD", password)
    server = bench.Server(fresh_settings.memory, command=COMMAND)
    try:
        files = [("files", (file.name, file.read_bytes())) for file in sorted(Path(CORPUS).iterdir())]
        assert httpx.post(f"{server.url}/api/load", files=files, timeout=120).status_code == 200
        seen = asyncio.run(bench.mixed(server, 16, 5, 0.3, "many"))
        assert seen.errors == []
        assert seen.asks
        assert seen.acknowledged <= bench.sources(server)
        found = asyncio.run(bench.killed(server, 4))
        server = bench.Server(fresh_settings.memory, command=COMMAND)
        assert found["acknowledged"]
        assert found["acknowledged"] | seen.acknowledged <= bench.sources(server)
        assert server.end() == 0
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    assert "Traceback" not in server.log()


def test_the_command_line_goes_through_the_server(tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.md").write_text("# Quellam\n\nZorvik lit the Quellam Lamp.", encoding="utf-8")
    folder = tmp_path / "memory"
    server = bench.Server(str(folder), command=COMMAND)
    try:
        file = folder / "server.json"
        token = json.loads(file.read_text(encoding="utf-8"))["token"]
        assert file.stat().st_mode & 0o777 == 0o600

        def through(*args, code=0):
            done = run("--memory", str(folder), *args)
            assert done.exit_code == code, (args, done.output)
            if "--json" in args:
                return json.loads(done.stdout)
            return done.output

        assert through("load", "--json", CORPUS)["documents"]["new"] == 30
        asked = through("ask", "--json", HARBOUR)
        assert len(asked["passages"]) == 5
        assert through("history", "--json", asked["id"][:10])["question"] == HARBOUR
        assert "only reading is allowed" in through("cypher", "CREATE (n:X)", code=1)
        assert through("load", "--json", "note.md")["documents"]["new"] == 1
        shown = through("show", "--json", "note.md")
        assert shown["document"]["source"] == (tmp_path / "note.md").as_posix()
        server.end(signal.SIGKILL)
        assert file.exists(), "kill -9 leaves it behind"
        monkeypatch.setattr("gsw_graph.models.embed.embedder.Embedder.load", __import__("fakes").embedder)
        held = through("status", "--json")["nodes"]["Document"]
        assert held == 31, "nobody has the memory open: it is opened"
        server = bench.Server(str(folder), command=COMMAND)
        assert server.end() == 0
        assert not file.exists()
        assert token not in server.log()
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


def test_beyond_loopback_a_token_is_made(tmp_path, monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    server = bench.Server(str(tmp_path / "memory"), "--host", "0.0.0.0", command=COMMAND)
    try:
        file = tmp_path / "memory/serve.token"
        token = file.read_text(encoding="utf-8").strip()
        assert file.stat().st_mode & 0o777 == 0o600
        assert len(token) > 40
        assert httpx.get(f"{server.url}/api/status").status_code == 401
        assert (
            httpx.get(f"{server.url}/api/status", headers={"Authorization": f"Bearer {token}"}).status_code
            == 200
        )
        assert server.end() == 0
        assert str(file) in server.log()
        assert token not in server.log()
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    file.chmod(0o644)
    done = run("--memory", str(tmp_path / "memory"), "serve", "--host", "0.0.0.0", "--port", "0")
    assert done.exit_code == 1
    assert "others can read this token" in done.output
