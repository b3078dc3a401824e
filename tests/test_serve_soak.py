"""Askers, loaders and a forgetter at the same time through `gswgraph serve`, a process of its own, for some seconds; the long form is
`python bench/serve.py --seconds 180 --clients 16 --loaders 2 --forgetters 1`."""

from __future__ import annotations

import asyncio

import engines
from test_serve_process import COMMAND, bench


def test_askers_loaders_and_a_forgetter_leave_a_memory_in_order(fresh_settings, tmp_path, monkeypatch):
    if password := engines.own_replies(fresh_settings, tmp_path / "cache").password:
        monkeypatch.setenv("NEO4J_PASSWORD", password)
    server = bench.Server(fresh_settings.memory, command=COMMAND)
    try:
        bench.load_corpus(server)
        before = bench.sources(server)
        seen = asyncio.run(bench.roles(server, 8, 2, 1, 6, least=3))
        assert seen.errors == [], server.log()
        assert seen.asks
        assert len(seen.forgotten) >= 3
        assert bench.sources(server) == before | (seen.acknowledged - seen.forgotten)
        assert server.end() == 0
        assert "Traceback" not in server.log()
        wrong = bench.wrong(fresh_settings.memory, COMMAND)
        assert [finding for finding in wrong if not finding.startswith(("cpu", "memory"))] == []
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
