"""`gswgraph db`: a private Neo4j that outlives its command, on loopback, with a private password."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from urllib.request import urlopen

import pytest
from click.testing import CliRunner
from engines import cannot_have, fitting_java, free_ports, opened, private_cache

from gsw_graph.cli.db import db
from gsw_graph.config import Settings
from gsw_graph.engine import local


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Start a private server by a command that has ended since."""
    if not fitting_java("5.26"):
        cannot_have("gswgraph db", "no Java 17 or 21")
    settings = private_cache(tmp_path_factory.mktemp("local"))
    bolt, http = free_ports()
    code = "from gsw_graph.cli.db import db; db()"
    command = [sys.executable, "-c", code, "start", "--port", str(bolt), "--http-port", str(http), "--json"]
    environment = {**os.environ, "GSWGRAPH_CACHE": str(settings.cache_dir)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["running"] is True
    assert document["url"] == f"bolt://127.0.0.1:{bolt}"
    (server,) = local.status(settings)
    yield settings, server
    local.stop(settings)


def invoke(settings, *arguments):
    return CliRunner().invoke(
        db, list(arguments), env={"GSWGRAPH_CACHE": str(settings.cache_dir)}, catch_exceptions=False
    )


def test_the_server_outlives_the_command_and_answers(running):
    settings, server = running
    assert server.running
    # no password is given: it comes from the server's own file
    with opened(Settings(memory=server.url, cache_dir=settings.cache_dir)) as connection:
        assert connection.dialect.version == server.release
        assert connection.database == "neo4j"


def test_browser_is_served(running):
    with urlopen(running[1].browser, timeout=10) as response:
        assert b"<html" in response.read(4000).lower()


def test_the_password_is_private_and_not_shown(running):
    settings, server = running
    password = server.password_file.read_text()
    assert server.password_file.stat().st_mode & 0o777 == 0o600
    assert len(password) >= 32
    assert password not in invoke(settings, "status").output + invoke(settings, "status", "--json").output


def test_stop_ends_it_and_status_says_so(running):
    settings, server = running
    with opened(Settings(memory=server.url, cache_dir=settings.cache_dir)) as connection:
        connection.driver.execute_query(
            "CREATE (:Memory__letters {id: 'memory'})", database_=connection.database
        )
    assert invoke(settings, "stop").exit_code == 0
    assert local.styled_memories(server.home) == ["letters"], "Browser has their colours at the next start"
    assert not any(server.running for server in local.status(settings))


def test_a_server_whose_memories_browser_does_not_know_is_started_again(tmp_path, monkeypatch):
    server = local.LocalServer(
        "5.26", "5.26.30", True, "bolt://127.0.0.1:1", "", "neo4j", tmp_path, tmp_path, "maven", 1
    )
    steps = []
    monkeypatch.setattr(local, "_launch", lambda *_: steps.append("start"))
    monkeypatch.setattr(local, "_learn_memories", lambda *_: len(steps) == 1)
    monkeypatch.setattr(local, "stop", lambda *_: steps.append("stop"))
    monkeypatch.setattr(local, "_server", lambda *_: server if steps else None)
    assert local.start(Settings(cache_dir=tmp_path), "5.26", *free_ports()) is server
    assert steps == ["start", "stop", "start"]
