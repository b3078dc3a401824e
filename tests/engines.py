"""Engines for the tests: where each one comes from, and how it is emptied."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakes
import neo4j
import pytest

from gsw_graph.concurrency import FairLock
from gsw_graph.config import Settings, default_cache_dir
from gsw_graph.engine import Connection, embedded, embedded_folder, local
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError
from gsw_graph.store.nodes import indexes

NAMES = ("embedded", "neo4j-5.26", "neo4j-2026")
URI_VARIABLES = {"5.26": "NEO4J_TEST_URI", "2026": "NEO4J_TEST_URI_2026"}
DOCKER_PASSWORD = "only-for-tests"


def free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on, of those that systems give to nobody who does not ask: a server takes seconds to
    start, and in that time another test or a client would be given one of the others."""
    found: list[int] = []
    while len(found) < 2:
        port = 12_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found[0], found[1]


def cannot_have(what: str, reason: str) -> None:
    """Skip loudly; in CI that is a failure, because a suite that quietly tests less says nothing."""
    message = f"NOT TESTED: {what} ({reason})"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def needs(module: str, extra: str) -> Any:
    """A module of an extra, or the same."""
    if importlib.util.find_spec(module) is not None:
        return importlib.import_module(module)
    message = f"NOT TESTED: {module} (the extra `{extra}` is not installed)"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message, allow_module_level=True)


@contextlib.contextmanager
def neo4j_settings(version: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Settings]:
    """Settings of a Neo4j that the tests may empty: from the environment, else Docker, else a private one from Maven Central."""
    if uri := os.environ.get(URI_VARIABLES[version]):
        yield Settings(memory=uri, password=os.environ.get("NEO4J_TEST_PASSWORD"))
        return
    if local.docker_answers():
        services = request.getfixturevalue("docker_services")
        host = request.getfixturevalue("docker_ip")
        yield Settings(
            memory=f"bolt://{host}:{services.port_for(f'neo4j-{version}', 7687)}", password=DOCKER_PASSWORD
        )
        return
    settings = private_cache(folder)
    bolt, http = free_ports()
    try:
        server = local.start(settings, version, bolt, http)
    except EngineError as error:
        cannot_have(
            f"Neo4j {version}", f"no {URI_VARIABLES[version]}, no Docker engine, and from Maven: {error}"
        )
    try:
        yield Settings(memory=server.url, cache_dir=settings.cache_dir)
    finally:
        local.stop(settings, version)


def private_cache(folder: Path) -> Settings:
    """Settings with a cache folder of their own, so that two runs never share a server; the jars are shared."""
    shared = default_cache_dir(os.environ).absolute() / "neo4j/lib"
    shared.mkdir(parents=True, exist_ok=True)
    private = folder / "neo4j"
    private.mkdir(parents=True)
    try:
        (private / "lib").symlink_to(shared, target_is_directory=True)
    except OSError:  # Windows without the right to make links: get the jars again
        (private / "lib").mkdir()
    for line in local.RELEASES:  # a memory whose colours Browser has from the start
        (private / line).mkdir(mode=0o700)
        (private / line / "memories.json").write_text('["handbook"]')
    return Settings(cache_dir=folder)


def quick_cache(folder: Path) -> Path:
    """A new cache folder in which the embedded engine starts as quickly as ever: what that needs is shared, and not made anew beside the test."""
    folder.mkdir()
    shared = default_cache_dir(os.environ).absolute() / "embedded"
    shared.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # Windows without the right to make links: it starts more slowly
        (folder / "embedded").symlink_to(shared, target_is_directory=True)
    return folder


class SharedEngine:
    """One embedded engine for the tests of a process, with a database for each memory folder: `install` takes the
    place of the engine that each folder would start, which takes seconds.

    A folder that holds a database of its own, as a copied one does, and tests for which `own` is set get an engine of
    their own, as users do.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: embedded.EngineProcess | None = None
        self._connect = embedded.connect
        self._new = embedded.EngineProcess
        self.own = False

    def install(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(embedded, "connect", self.connect)

    def connect(self, settings: Settings, meanwhile: Callable[[], None] | None = None) -> Connection:
        """As `embedded.connect`."""
        folder = Path(settings.memory)
        if self.own or (folder / "databases").exists() or not Path(default_cache_dir(os.environ)).exists():
            return self._connect(settings, meanwhile)
        folder = embedded_folder.prepare(folder)
        if self._process is None:
            self._process = self._new(
                embedded_folder.prepare(self._folder), default_cache_dir(os.environ).absolute() / "embedded"
            )
        if meanwhile is not None:
            meanwhile()
        named = folder / "shared-database"
        if not named.exists():
            named.write_text(f"t{secrets.token_hex(8)}", encoding="ascii")
        database = named.read_text(encoding="ascii")
        self._process.ask({"analyze": "RETURN 1", "database": database})  # which makes it
        password = embedded_folder.read_password(self._folder)
        driver = neo4j.GraphDatabase.driver(
            f"bolt://127.0.0.1:{self._process.ready['bolt']}",
            auth=(embedded.USER, password),
            notifications_min_severity="OFF",
        )
        dialect = embedded.EmbeddedDialect(self._process, database)
        return Connection(driver, database, dialect, str(folder), None, FairLock())

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()


def own_replies(settings: Settings, folder: Path) -> Settings:
    """The same with a cache folder without kept replies of models."""
    quick_cache(folder)
    password = settings.password
    if "://" in settings.memory and password is None:  # of a private server, which its own cache folder knows
        password = local.password_for(settings, int(settings.memory.rpartition(":")[2]))
    return replace(settings, cache_dir=folder, password=password)


def empty(settings: Settings, *, keep_schema: bool = False) -> None:
    """Take every node, constraint and index out of a Neo4j; the Community Edition has one database only.

    Args:
        settings: Of the server.
        keep_schema: Leave the constraints and indexes of the memory without a name if their vectors are as long as those
            of the tests' embedder. A server forgets the plans of all statements when its schema changes, and planning
            takes most of the time of the tests on it.
    """
    kept = {index.name for index in indexes()} if keep_schema else set()
    connection = connect(settings)
    with contextlib.closing(connection), connection.driver.session(database=connection.database) as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS").consume()
        for (name,) in session.run("SHOW CONSTRAINTS YIELD name RETURN name").values():
            if name not in kept:
                session.run(f"DROP CONSTRAINT `{name}`").consume()
        shown = session.run(
            "SHOW INDEXES YIELD name, type, options, owningConstraint WHERE type <> 'LOOKUP' AND owningConstraint IS NULL RETURN name, options"
        )
        for name, options in shown.values():
            dimension = options.get("indexConfig", {}).get("vector.dimensions", fakes.DIMENSION)
            if name not in kept or dimension != fakes.DIMENSION:
                session.run(f"DROP INDEX `{name}`").consume()


@contextlib.contextmanager
def opened(settings: Settings) -> Iterator[Connection]:
    """A connection that is closed at the end."""
    with contextlib.closing(connect(settings)) as connection:
        yield connection


def fitting_java(version: str) -> bool:
    """Whether this machine has a Java for a version line."""
    with contextlib.suppress(EngineError):
        return bool(local.find_java(local._JAVA[version], version))
    return False
