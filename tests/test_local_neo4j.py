"""`gswgraph db`: a private Neo4j, its messages when something is missing, and the command line."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from engines import cannot_have, fitting_java, free_ports, opened, private_cache
from neo4j.exceptions import ClientError

from gsw_graph.cli.db import db
from gsw_graph.config import Settings
from gsw_graph.engine import local, local_docker, local_java, local_maven
from gsw_graph.errors import EngineError, InputError
from gsw_graph.moving import fileset, importing

POSIX = pytest.mark.skipif(os.name != "posix", reason="shell scripts stand in for programs")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, local.LocalServer]]:
    """A private server, started by a command that has ended since."""
    if not local_docker.answers() and not fitting_java("5.26"):
        cannot_have("gswgraph db", "no Docker engine and no Java 17 or 21")
    settings = private_cache(tmp_path_factory.mktemp("local"))
    bolt, http = free_ports()
    code = "from gsw_graph.cli.db import db; db()"
    command = [sys.executable, "-c", code, "start", "--port", str(bolt), "--http-port", str(http), "--json"]
    environment = {**os.environ, "GSWGRAPH_CACHE": str(settings.cache_dir)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Starting Neo4j" in done.stderr
    document = json.loads(done.stdout)
    assert document["running"] is True
    assert document["url"] == f"bolt://127.0.0.1:{bolt}"
    (server,) = local.status(settings)
    yield settings, server
    local.stop(settings)


def invoke(settings: Settings, *arguments: str) -> Result:
    return CliRunner().invoke(db, list(arguments), env={"GSWGRAPH_CACHE": str(settings.cache_dir)}, catch_exceptions=False)


def program(folder: Path, name: str, script: str) -> Path:
    """An executable that stands in for a real one."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def java(folder: Path, version: str) -> str:
    return str(program(folder / "bin", "java", f"echo 'openjdk version \"{version}\"' >&2").resolve())


def test_the_server_outlives_the_command_and_answers(running: tuple[Settings, local.LocalServer]) -> None:
    settings, server = running
    assert server.running
    # no password is given: it comes from the server's own file
    with opened(Settings(memory=server.url, cache_dir=settings.cache_dir)) as connection:
        assert connection.dialect.version == server.release
        assert connection.database == "neo4j"


def test_browser_is_served_on_the_loopback_only(running: tuple[Settings, local.LocalServer]) -> None:
    from urllib.request import urlopen

    _, server = running
    with urlopen(server.browser, timeout=10) as response:
        assert b"<html" in response.read(4000).lower()
    if server.by == "maven":
        ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", server.url + server.browser)]
        outside = "127.0.0.1"
        with contextlib.suppress(socket.gaierror):
            outside = socket.gethostbyname(socket.gethostname())
        if not outside.startswith("127."):
            with socket.socket() as probe:
                probe.settimeout(2)
                assert probe.connect_ex((outside, ports[0])) != 0


@POSIX
def test_the_password_is_private_and_not_shown(running: tuple[Settings, local.LocalServer]) -> None:
    settings, server = running
    password = server.password_file.read_text()
    assert server.password_file.stat().st_mode & 0o777 == 0o600
    assert len(password) >= 32
    assert password not in repr(server)
    assert password not in invoke(settings, "status").output + invoke(settings, "status", "--json").output
    if server.pid is not None:
        assert password not in local_maven._command_line(server.pid)


def test_a_second_start_reports_the_first(running: tuple[Settings, local.LocalServer]) -> None:
    settings, server = running
    assert local.start(settings, "5.26", *free_ports()) == server


def test_status_in_text_and_json(running: tuple[Settings, local.LocalServer]) -> None:
    settings, server = running
    text = invoke(settings, "status").stdout
    for fact in (server.url, server.browser, server.release, "is running", str(server.password_file)):
        assert fact in text
    (document,) = json.loads(invoke(settings, "status", "--json").stdout)["servers"]
    assert (document["url"], document["pid"], document["running"]) == (server.url, server.pid, True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "file:///../conf/neo4j.conf", "http://127.0.0.1:{port}/?x=1"])
def test_load_csv_reaches_the_import_folder_only(running: tuple[Settings, local.LocalServer], url: str) -> None:
    settings, server = running
    with socket.create_server(("127.0.0.1", 0)) as listener, opened(Settings(memory=server.url, cache_dir=settings.cache_dir)) as connection:
        listener.settimeout(0)
        query = "LOAD CSV FROM $url AS line RETURN line LIMIT 1"
        with pytest.raises(ClientError, match=r"load|blocked"):
            connection.driver.execute_query(query, url=url.format(port=listener.getsockname()[1]), database_=connection.database)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("option", ["--port", "--http-port"])
def test_a_taken_port_is_named_with_its_option(tmp_path: Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        bolt, http = free_ports()
        ports = (port, http) if option == "--port" else (bolt, port)
        with pytest.raises(EngineError, match=rf"port {port} is taken.*Choose another with {option}"):
            local.start(Settings(cache_dir=tmp_path), "5.26", *ports)


def test_stop_and_start_again_keeps_the_data(tmp_path: Path, running: tuple[Settings, local.LocalServer]) -> None:
    settings, server = running
    with opened(Settings(memory=server.url, cache_dir=settings.cache_dir)) as connection:
        connection.driver.execute_query("MERGE (:Kept {id: 1})", database_=connection.database)
    (document,) = json.loads(invoke(settings, "stop", "--json").stdout)["servers"]
    assert document["running"] is False
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(server.url.rpartition(":")[2]))) != 0
    assert "is not running" in invoke(settings, "status").stdout
    assert "No private Neo4j is running" in invoke(settings, "stop").stdout
    again = local.start(settings, "5.26", *free_ports())
    assert again.url != server.url
    with opened(Settings(memory=again.url, cache_dir=settings.cache_dir)) as connection:
        assert connection.driver.execute_query("MATCH (n:Kept) RETURN n.id AS id", database_=connection.database).records[0]["id"] == 1


def test_nothing_is_there_at_first(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path)
    assert local.status(settings) == []
    assert local.stop(settings) == []
    assert "gswgraph db start" in invoke(settings, "status").stdout
    assert json.loads(invoke(settings, "status", "--json").stdout) == {"servers": []}
    assert local.password_for(settings, 7687) is None


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"no version 4\.4.*5\.26, 2026"):
        local.start(Settings(cache_dir=tmp_path), "4.4")


def test_a_process_that_got_the_old_number_is_no_server(tmp_path: Path) -> None:
    home = tmp_path / "neo4j" / "5.26"
    home.mkdir(parents=True)
    state = {"release": "5.26.30", "port": 7687, "http_port": 7474, "by": "maven", "pid": os.getpid()}
    (home / "server.json").write_text(json.dumps(state))
    (server,) = local.status(Settings(cache_dir=tmp_path))
    assert not server.running
    assert server.pid is None
    assert local.stop(Settings(cache_dir=tmp_path)) == []


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_docker, "answers", lambda: False)
    monkeypatch.setattr(local_java, "candidates", list)
    with pytest.raises(EngineError, match=r"Neo4j 2026\S+ needs Java 21 or 25, and no Java was found\. Install Java 25 or set JAVA_HOME"):
        local.start(Settings(cache_dir=tmp_path), "2026", *free_ports())


@POSIX
def test_only_other_javas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_java, "_PLACES", ())
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "eight"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'eleven' / 'bin'}:/usr/bin:/bin", prepend=None)
    eight, eleven = java(tmp_path / "eight", "1.8.0_402"), java(tmp_path / "eleven", "11.0.2")
    with pytest.raises(EngineError) as caught:
        local_java.find_java((17, 21), "Neo4j")
    assert f"only Java 8 ({eight}), 11 ({eleven}) was found" in str(caught.value)


@POSIX
def test_the_java_that_fits_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_java, "_PLACES", (f"{tmp_path}/jvm/*",))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    java(tmp_path / "home", "11.0.2")
    right = java(tmp_path / "jvm" / "b", "21.0.1")
    java(tmp_path / "jvm" / "a", "26-ea")
    program(tmp_path / "jvm" / "c" / "bin", "java", "exit 1")
    assert local_java.find_java((21, 25), "Neo4j") == right


@POSIX
def test_no_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_docker, "answers", lambda: False)
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: "java")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="Maven is not installed, and no Docker engine answers"):
        local.start(Settings(cache_dir=tmp_path), "5.26", *free_ports())


@POSIX
def test_maven_that_fails_is_quoted_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_docker, "answers", lambda: False)
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: "java")
    program(tmp_path / "bin", "mvn", "echo '[ERROR] Unknown host repo'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    with pytest.raises(EngineError, match=r"could not get Neo4j 5\.26\.\d+: \[ERROR\] Unknown host repo"):
        local.start(Settings(cache_dir=tmp_path / "cache"), "5.26", *free_ports())
    assert list((tmp_path / "cache" / "neo4j" / "lib").iterdir()) == []


@POSIX
def test_a_server_that_ends_at_once_shows_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_docker, "answers", lambda: False)
    fake = program(tmp_path / "bin", "java", "case \"$*\" in *AdminTool*) exit 0;; esac\necho 'ERROR Failed to start: disk full'; exit 1")
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: str(fake))
    settings = private_cache(tmp_path / "cache")
    (tmp_path / "cache" / "neo4j" / "lib").unlink()
    (tmp_path / "cache" / "neo4j" / "lib" / local.RELEASES["5.26"]).mkdir(parents=True)
    with pytest.raises(EngineError, match=r"did not start: ERROR Failed to start: disk full.*neo4j\.log"):
        local.start(settings, "5.26", *free_ports())
    assert local.status(settings) == []


@POSIX
def test_docker_is_used_where_it_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a program in place of docker that writes down what it is asked."""
    log, up = tmp_path / "log", tmp_path / "up"
    script = f"""
echo "$GSWGRAPH_BOLT_PORT $GSWGRAPH_NEO4J_5_26 ${{#GSWGRAPH_NEO4J_PASSWORD}} $*" >> {log}
case "$*" in *" up "*) touch {up};; *" down"*) rm {up};; *" ps "*) test -f {up} && echo id;; esac
exit 0"""
    program(tmp_path / "bin", "docker", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    settings = Settings(cache_dir=tmp_path / "cache")
    bolt, http = free_ports()
    server = local.start(settings, "5.26", bolt, http)
    assert (server.by, server.pid, server.running) == ("docker", None, True)
    assert f"{bolt} {local.RELEASES['5.26']} 32 compose" in log.read_text()
    assert server.password_file.read_text() not in log.read_text()  # it is in the environment, not on the command line
    (stopped,) = local.stop(settings)
    assert not stopped.running


MANIFEST = {"format": fileset.FORMAT, "gswgraph": "1", "schema": 4, "embedder": "e", "dimension": 3, "counts": {"Memory": 1, "Document": 2}}
LOADS = """
case "$*" in *" import "*) mkdir -p "$NEO4J_HOME/data/databases/neo4j" "$NEO4J_HOME/data/transactions/neo4j"; pwd; echo "$*";; esac
"""
FAILS = f"""{LOADS}
echo "java.lang.IllegalStateException: disk full" >&2
echo "	at picocli.CommandLine.execute(CommandLine.java:1)" >&2
exit 1"""


@pytest.fixture
def to_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Settings, Path]:
    """Settings whose server was never started, with no Docker, and a folder that says it holds a set of files."""
    monkeypatch.setattr(local_docker, "answers", lambda: False)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / fileset.MANIFEST).write_text(json.dumps(MANIFEST))
    (tmp_path / "cache" / "neo4j" / "lib" / local.RELEASES["2026"]).mkdir(parents=True)
    return Settings(cache_dir=tmp_path / "cache"), tmp_path / "files"


@POSIX
def test_files_are_imported_once(monkeypatch: pytest.MonkeyPatch, to_import: tuple[Settings, Path], tmp_path: Path) -> None:
    settings, folder = to_import
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: str(program(tmp_path / "bin", "java", LOADS)))
    done = invoke(settings, "import", str(folder), "--version", "2026")
    assert done.exit_code == 0, done.output
    assert f"Importing into Neo4j {local.RELEASES['2026']}" in done.stderr
    assert "Imported 2 documents into Neo4j 2026" in done.stdout
    assert "gswgraph db start --version 2026" in done.stdout
    with pytest.raises(EngineError, match=r"imported into before, and holds a database\. Move that folder away"):
        importing.into_private(settings, folder, "2026")
    assert (settings.cache_dir / "neo4j" / "2026" / "data" / "databases" / "neo4j").is_dir()


@POSIX
def test_an_import_that_fails_says_why_and_leaves_no_database(monkeypatch: pytest.MonkeyPatch, to_import: tuple[Settings, Path], tmp_path: Path) -> None:
    settings, folder = to_import
    failing = program(tmp_path / "bin", "java", FAILS)
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: str(failing))
    with pytest.raises(EngineError, match=r"neo4j-admin database import failed: java\.lang\.IllegalStateException: disk full\. What.*neo4j-admin\.log"):
        importing.into_private(settings, folder, "2026")
    home = settings.cache_dir / "neo4j" / "2026"
    said = (home / local_maven.ADMIN_LOG).read_text()
    assert str(folder) in said  # where it ran, as what it is given is relative to that
    assert "--nodes=Document=./nodes/Document" in said
    assert [path for name in ("databases", "transactions") for path in (home / "data" / name).iterdir()] == []


def test_nothing_is_imported_into_a_server_that_runs(running: tuple[Settings, local.LocalServer], to_import: tuple[Settings, Path]) -> None:
    with pytest.raises(EngineError, match=r"Neo4j 5\.26\.\d+ is running\. Stop it first: gswgraph db stop"):
        importing.into_private(running[0], to_import[1])


def test_a_folder_without_files_is_not_imported(to_import: tuple[Settings, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no complete set of files"):
        importing.into_private(to_import[0], tmp_path, "2026")
    assert not (tmp_path / "cache" / "neo4j" / "2026").exists()


def test_into_docker_nothing_is_imported(monkeypatch: pytest.MonkeyPatch, to_import: tuple[Settings, Path]) -> None:
    monkeypatch.setattr(local_docker, "answers", lambda: True)
    with pytest.raises(EngineError, match=r"runs in Docker here.*: sh .*files/import\.sh"):
        importing.into_private(*to_import, "2026")


@POSIX
def test_an_import_that_was_killed_is_no_database(monkeypatch: pytest.MonkeyPatch, to_import: tuple[Settings, Path], tmp_path: Path) -> None:
    settings, folder = to_import
    fake = program(tmp_path / "bin", "java", f"{LOADS}\ntest -f {tmp_path}/quick || exec python3 -c 'import time; time.sleep(60)' $NEO4J_HOME")
    monkeypatch.setattr(local_maven, "find_java", lambda majors, wanted_by: str(fake))
    child = os.fork()
    if child == 0:
        importing.into_private(settings, folder, "2026")
        os._exit(1)
    begun, end = settings.cache_dir / "neo4j" / "2026" / "importing", time.monotonic() + 60
    while not (begun.exists() and (said := begun.read_text()) and "sleep" in local_maven._command_line(int(said))):
        assert time.monotonic() < end
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for again in (lambda: importing.into_private(settings, folder, "2026"), lambda: local.start(settings, "2026", *free_ports())):
        with pytest.raises(EngineError, match=rf"an import still runs \(pid {said}\)"):
            again()
    os.kill(int(said), signal.SIGKILL)
    while "sleep" in local_maven._command_line(int(said)):
        assert time.monotonic() < end
        time.sleep(0.1)
    (tmp_path / "quick").touch()
    half = settings.cache_dir / "neo4j" / "2026" / "data" / "databases" / "neo4j"
    (half / "half").mkdir()
    with pytest.raises(EngineError, match=r"was cut off\. Run gswgraph db import again"):
        local.start(settings, "2026", *free_ports())
    importing.into_private(settings, folder, "2026")
    assert list(half.iterdir()) == []


@POSIX
def test_logs_that_were_there_are_left_alone(to_import: tuple[Settings, Path]) -> None:
    settings, folder = to_import
    logs = settings.cache_dir / "neo4j" / "2026" / "data" / "transactions" / "neo4j"
    logs.mkdir(parents=True)
    with pytest.raises(EngineError, match="holds a database"):
        importing.into_private(settings, folder, "2026")
    assert logs.is_dir()


def test_the_package_holds_its_files() -> None:
    folder = files("gsw_graph.docker")
    assert "org.neo4j" in folder.joinpath("maven/pom.xml").read_text()
    compose = folder.joinpath("compose.yml").read_text()
    for line, release in local.RELEASES.items():
        assert f'profiles: ["{line}"]' in compose
        assert f"{release}}}-community" in compose
    assert compose.count('"127.0.0.1:') == 4


@pytest.mark.parametrize("command", ["start", "stop", "status", "import"])
def test_help_has_an_example(command: str) -> None:
    text = CliRunner().invoke(db, [command, "--help"]).output
    assert f"gswgraph db {command}" in text
    assert "--json" in text
