"""A private Neo4j with Browser for one user: started by Docker where an engine answers, else from Maven
Central with Java.

Everything lies below `settings.cache_dir / "neo4j"`: `lib/<release>/` the jars, `<line>/` one home for
each version line.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.engine import local_docker, local_maven
from gsw_graph.engine.browser_style import after_login
from gsw_graph.engine.embedded_folder import FolderLock, write_private
from gsw_graph.errors import EngineError

if TYPE_CHECKING:
    from gsw_graph.config import Settings

# Exact releases, so that two machines run the same server. Not 2026.08.0: its queries can fail.
RELEASES = {"5.26": "5.26.30", "2026": "2026.08.1"}
DEFAULT_VERSION = "5.26"
BOLT_PORT, HTTP_PORT = 7687, 7474
USER = "neo4j"
_IMPORTING = "importing"  # in the home, with the process that imports, and after that was killed


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A private Neo4j as it stands; `pid` is None under Docker or when it does not run."""

    version: str
    release: str
    running: bool
    url: str
    browser: str
    username: str
    password_file: Path
    home: Path
    by: str  # "docker" or "maven"
    pid: int | None


@dataclass(frozen=True, slots=True)
class _State:
    """What `start` remembers in `server.json` of the home."""

    release: str
    port: int
    http_port: int
    by: str
    pid: int | None


def start(
    settings: Settings,
    version: str = DEFAULT_VERSION,
    port: int = BOLT_PORT,
    http_port: int = HTTP_PORT,
    report: Callable[[str], None] = lambda _: None,
) -> LocalServer:
    """Start the server of a version line and wait until it answers; one that runs already is only reported.

    EngineError where a port is taken, Java or Maven is missing, or the server does not come up.
    """
    with _at_work(settings, version, "gswgraph db start") as home:
        found = _server(settings, version)
        if found is not None and found.running:
            return found
        if _import_ended(home):
            raise EngineError(
                "an import into this server was cut off", where=str(home), hint="Run gswgraph db import again"
            )
        for number, option in ((port, "--port"), (http_port, "--http-port")):
            _check_free(number, option)
        password = _password(home)
        release = RELEASES[version]
        if local_docker.answers():
            report(f"Starting Neo4j {release} in Docker")
            local_docker.start(home, version, release, port, http_port, password, after_login())
            pid = None
        else:
            lib = settings.cache_dir / "neo4j" / "lib" / release
            pid = local_maven.start(home, lib, release, port, http_port, after_login(), report)
        state = _State(release, port, http_port, "maven" if pid else "docker", pid)
        write_private(home / "server.json", json.dumps(asdict(state)))
    server = _server(settings, version)
    if server is None or not server.running:
        raise EngineError(
            "the server ended right after its start",
            where=str(home),
            hint=f"Its log is {home / local_maven.LOG}",
        )
    return server


def import_files(
    settings: Settings,
    files: Path,
    arguments: list[str],
    version: str = DEFAULT_VERSION,
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Make the database of a version line by `neo4j-admin ARGUMENTS`, run in the folder `files`; the next
    `start` has it. EngineError where the server runs or holds one, or is one of Docker, or the import fails;
    then none is left."""
    with _at_work(settings, version, "gswgraph db import") as home:
        release, found = RELEASES[version], _server(settings, version)
        if local_docker.answers():
            raise EngineError(
                "the private Neo4j runs in Docker here, into which this cannot import",
                hint=f"Use a Neo4j of your own: sh {shlex.quote(str(files))}/import.sh",
            )
        if found is not None and found.running:
            raise EngineError(
                f"Neo4j {release} is running", where=found.url, hint="Stop it first: gswgraph db stop"
            )
        made = [home / "data" / folder / "neo4j" for folder in ("databases", "transactions")]
        if _import_ended(home):
            _remove(made)
        if any(folder.exists() for folder in made):
            other = next(line for line in RELEASES if line != version)
            raise EngineError(
                f"Neo4j {release} was started or imported into before, and holds a database",
                where=str(home / "data"),
                hint=f"Move that folder away, or take the other: gswgraph db import --version {other} DIR",
            )
        begun = home / _IMPORTING
        lib = (settings.cache_dir / "neo4j" / "lib" / release).absolute()
        arguments = [*arguments, f"--report-file={home / 'import.report'}"]
        try:
            local_maven.admin(home, lib, release, files, arguments, begun, report)
        except BaseException:  # Ctrl-C too
            _remove(made)
            begun.unlink(missing_ok=True)
            raise
        begun.unlink()


def _import_ended(home: Path) -> bool:
    """Whether an import was cut off. EngineError: what it started still runs."""
    begun = home / _IMPORTING
    if not begun.exists():
        return False
    pid = begun.read_text(encoding="ascii")
    if pid.isdecimal() and local_maven.runs(home, int(pid)):
        raise EngineError(f"an import still runs (pid {pid})", where=str(home), hint="Wait until it ends")
    return True


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)


@contextlib.contextmanager
def _at_work(settings: Settings, version: str, command: str) -> Iterator[Path]:
    """The home of a version line, on which no other command is at work meanwhile."""
    if version not in RELEASES:
        raise EngineError(f"there is no version {version}", hint=f"Choose one of {', '.join(RELEASES)}")
    home = _home(settings, version)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FolderLock(home)
    holder = lock.acquire({"pid": os.getpid(), "command": command}, patience=1)
    if holder is not None:
        raise EngineError(
            f"{holder.get('command', 'another command')} is at work on this server",
            where=str(home),
            hint="Wait for it to end",
        )
    try:
        yield home
    finally:
        lock.announce_stop()
        lock.release()


def stop(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """Stop the server of a version line, or all; returns those that ran, as they stand now."""
    stopped = []
    for server in status(settings, version):
        if server.running:
            if server.pid is None:
                local_docker.stop(server.home, server.version)
            else:
                local_maven.stop(server.home, server.pid)
            stopped.extend(status(settings, server.version))
    return stopped


def status(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """The private servers ever started, running or not."""
    found = (_server(settings, line) for line in ([version] if version else RELEASES))
    return [server for server in found if server is not None]


def password_for(settings: Settings, port: int) -> str | None:
    """The password of the private server that runs on a Bolt port."""
    for server in status(settings):
        if server.url.endswith(f":{port}") and server.running:
            return server.password_file.read_text(encoding="utf-8").strip()
    return None


def _home(settings: Settings, version: str) -> Path:
    return (settings.cache_dir / "neo4j" / version).absolute()


def _server(settings: Settings, version: str) -> LocalServer | None:
    home = _home(settings, version)
    try:
        state = _State(**json.loads((home / "server.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    running = local_docker.runs(home, version) if state.pid is None else local_maven.runs(home, state.pid)
    return LocalServer(
        version=version,
        release=state.release,
        running=running,
        url=f"bolt://127.0.0.1:{state.port}",
        browser=f"http://127.0.0.1:{state.http_port}/browser/?dbms=bolt://{USER}@127.0.0.1:{state.port}",
        username=USER,
        password_file=home / "password",
        home=home,
        by=state.by,
        pid=state.pid if running else None,
    )


def _password(home: Path) -> str:
    file = home / "password"
    if not file.exists():
        write_private(
            file, secrets.token_hex(16)
        )  # letters and digits only: it passes through environment files and yaml
    return file.read_text(encoding="utf-8").strip()


def _check_free(port: int, option: str) -> None:
    with socket.socket() as probe:
        # a server that has just stopped leaves the port in TIME_WAIT, which does not stop a new one
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise EngineError(
                f"port {port} is taken ({error.strerror})", hint=f"Choose another with {option}"
            ) from error
