"""A private Neo4j with Browser for one user: started by Docker where an engine answers, else from Maven
Central with Java.

Everything lies below `settings.cache_dir / "neo4j"`: `lib/<release>/` the jars, `<line>/` one home for
each version line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.engine.browser_style import after_login
from gsw_graph.engine.embedded import heap_size
from gsw_graph.engine.embedded_folder import FolderLock, write_private
from gsw_graph.errors import EngineError

if TYPE_CHECKING:
    from gsw_graph.config import Settings

# Exact releases, so that two machines run the same server. Not 2026.08.0: its queries can fail.
RELEASES = {"5.26": "5.26.30", "2026": "2026.08.1"}
DEFAULT_VERSION = "5.26"
BOLT_PORT, HTTP_PORT = 7687, 7474
USER = "neo4j"


LOG = "neo4j.log"
START_SECONDS, STOP_SECONDS = 180, 120
_JAVA = {"5": (17, 21), "2026": (21, 25)}  # which majors a version line runs on
_MAIN = {"5": "org.neo4j.server.CommunityEntryPoint", "2026": "org.neo4j.server.Neo4jCommunity"}
_OPENS = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_FLAGS_2026 = [
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "--add-modules=jdk.incubator.vector",
]
_FLAGS = {"5": [], "2026": _FLAGS_2026}
_CONF = """\
# written by gswgraph at every start
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.listen_address=127.0.0.1:{http_port}
server.http.advertised_address=127.0.0.1:{http_port}
server.https.enabled=false
dbms.security.auth_enabled=true
server.memory.pagecache.size=512m
dbms.usage_report.enabled=false
client.allow_telemetry=false
# Neo4j Browser takes our style at every login, and fetches nothing from other machines
browser.post_connect_cmd={after_login}
browser.remote_content_hostname_whitelist=localhost
# LOAD CSV reads files of the import folder only, and no page of the web
server.directories.import=import
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0
# none of plugins; those of the server itself cannot be turned off
dbms.security.procedures.allowlist=db.*,dbms.*
"""
_CONF_2026 = "server.fleet_discovery.enabled=false\n"
_PLACES = (
    "/usr/lib/jvm/*",
    "/opt/*j*",  # jdk-21, java-21, openjdk
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "~/.sdkman/candidates/java/*",
    "C:/Program Files/Java/*",
    "C:/Program Files/Eclipse Adoptium/*",
    "C:/Program Files/Microsoft/jdk*",
)


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
        for number, option in ((port, "--port"), (http_port, "--http-port")):
            _check_free(number, option)
        password = _password(home)
        release = RELEASES[version]
        if docker_answers():
            report(f"Starting Neo4j {release} in Docker")
            start_docker(home, version, release, port, http_port, password, after_login())
            pid = None
        else:
            lib = settings.cache_dir / "neo4j" / "lib" / release
            pid = start_java(home, lib, release, port, http_port, after_login(), report)
        state = _State(release, port, http_port, "maven" if pid else "docker", pid)
        write_private(home / "server.json", json.dumps(asdict(state)))
    server = _server(settings, version)
    if server is None or not server.running:
        raise EngineError(
            "the server ended right after its start",
            where=str(home),
            hint=f"Its log is {home / LOG}",
        )
    return server


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
                stop_docker(server.home, server.version)
            else:
                stop_java(server.home, server.pid)
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
    running = docker_runs(home, version) if state.pid is None else runs(home, state.pid)
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


def docker_answers() -> bool:
    """True where a Docker engine with compose answers."""
    return _quiet(["docker", "info"]) and _quiet(["docker", "compose", "version"])


def start_docker(
    home: Path, version: str, release: str, port: int, http_port: int, password: str, after_login: str
) -> None:
    """Bring the container up and wait until it is healthy. after_login: commands that Neo4j Browser runs
    after every login."""
    values = {
        "GSWGRAPH_BOLT_PORT": str(port),
        "GSWGRAPH_HTTP_PORT": str(http_port),
        "GSWGRAPH_NEO4J_PASSWORD": password,
        "GSWGRAPH_BROWSER_AFTER_LOGIN": after_login,
        f"GSWGRAPH_NEO4J_{version.replace('.', '_')}": release,
    }
    done = _compose(home, version, ["up", "--detach", "--wait"], values)
    if done.returncode != 0:
        reason = " ".join(done.stderr.replace(password, "***").split())[-400:]
        raise EngineError(f"Docker could not start Neo4j {release}: {reason}", hint="See docker compose logs")


def stop_docker(home: Path, version: str) -> None:
    """Stop the container; its data stay in their volume."""
    done = _compose(home, version, ["down"])
    if done.returncode != 0:
        raise EngineError(
            f"Docker could not stop Neo4j: {' '.join(done.stderr.split())[-400:]}",
            hint="Is the Docker engine running?",
        )


def docker_runs(home: Path, version: str) -> bool:
    """True where the container is up."""
    return bool(_compose(home, version, ["ps", "--quiet", "--status", "running"]).stdout.strip())


def _compose(
    home: Path, version: str, command: list[str], values: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    file = Path(str(files("gsw_graph.docker"))) / "compose.yml"
    project = f"gswgraph-{hashlib.sha256(str(home).encode()).hexdigest()[:8]}"
    environment = {**os.environ, "GSWGRAPH_NEO4J_PASSWORD": "unused", **(values or {})}
    line = [
        "docker",
        "compose",
        "--file",
        str(file),
        "--project-name",
        project,
        "--profile",
        version,
        *command,
    ]
    try:
        return subprocess.run(
            line, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        return subprocess.CompletedProcess(line, 1, "", str(error))


def _quiet(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_java(
    home: Path,
    lib: Path,
    release: str,
    port: int,
    http_port: int,
    after_login: str,
    report: Callable[[str], None],
) -> int:
    """Start a server on `home` that outlives this process; returns its process id when it answers.
    after_login: commands that Neo4j Browser runs after every login."""
    line, java = release.split(".")[0], _java(lib, release, report)
    for name in ("conf", "plugins", "import"):
        (home / name).mkdir(exist_ok=True)
    conf = _CONF.format(port=port, http_port=http_port, after_login=after_login)
    conf += _CONF_2026 if line == "2026" else ""
    (home / "conf" / "neo4j.conf").write_text(conf, encoding="utf-8")
    if not (home / "data" / "databases" / "system").exists():
        _set_password(java, lib, home)
    report(f"Starting Neo4j {release}")
    options = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENS]
    command = [java, "-cp", f"{lib}{os.sep}*", f"-Xmx{heap_size()}", *options, *_FLAGS[line], _MAIN[line]]
    pid = _detach([*command, f"--home-dir={home}", f"--config-dir={home / 'conf'}", "--console-mode"], home)
    try:
        _await(home, pid, port)
    except BaseException:  # Ctrl-C too: nobody would know of the server
        if runs(home, pid):
            stop_java(home, pid)
        raise
    return pid


def _java(lib: Path, release: str, report: Callable[[str], None]) -> str:
    """The Java for a release, whose jars are in `lib` then."""
    java = find_java(_JAVA[release.split(".")[0]], f"Neo4j {release}")
    if not lib.is_dir():
        report(f"Getting Neo4j {release} from Maven Central (about 150 MB, once)")
        _get_jars(lib, release)
    return java


def _await(home: Path, pid: int, port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while not _listens(port) or "Started." not in _log(home):
        if not _settled(home, pid):
            raise EngineError(
                f"Neo4j did not start: {_reason(home)}", where=str(home), hint=f"Its log is {home / LOG}"
            )
        if time.monotonic() > end:
            raise EngineError(
                f"Neo4j did not start within {START_SECONDS} s",
                where=str(home),
                hint=f"Its log is {home / LOG}",
            )
        time.sleep(0.1)


def runs(home: Path, pid: int) -> bool:
    """True where `pid` is the server of `home`; a number that the system gave to another process is not."""
    return str(home) in _command_line(pid)


def _settled(home: Path, pid: int) -> bool:
    """`runs`, for a process that has just begun: its command line is empty for a moment."""
    if runs(home, pid):
        return True
    time.sleep(0.3)
    return runs(home, pid)


def stop_java(home: Path, pid: int) -> None:
    """End the server cleanly and wait for it."""
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    while runs(home, pid):
        if time.monotonic() > end:
            raise EngineError(
                f"Neo4j did not stop within {STOP_SECONDS} s",
                where=f"pid {pid}",
                hint=f"Its log is {home / LOG}",
            )
        time.sleep(0.1)


def _get_jars(lib: Path, release: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise EngineError(
            "Maven is not installed, and no Docker engine answers", hint="Install Maven (mvn) or start Docker"
        )
    lib.parent.mkdir(parents=True, exist_ok=True)
    pom = Path(str(files("gsw_graph.docker"))) / "maven" / "pom.xml"
    with tempfile.TemporaryDirectory(prefix=".getting-", dir=lib.parent) as folder:
        command = [
            maven,
            "-q",
            "-B",
            "-f",
            str(pom),
            f"-Dneo4j.version={release}",
            f"-DoutputDirectory={folder}/lib",
        ]
        done = subprocess.run(
            [*command, "dependency:copy-dependencies"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
            raise EngineError(
                f"Maven could not get Neo4j {release}: {' '.join(lines[:2]) or 'no reason given'}",
                hint="Check the network and try again",
            )
        if not lib.is_dir():
            (Path(folder) / "lib").rename(lib)


def _set_password(java: str, lib: Path, home: Path) -> None:
    # by @file, because every user of the machine can see a command line
    arguments = ["dbms", "set-initial-password", f"@{home / 'password'}"]
    code, said = _admin(java, f"{lib}{os.sep}*", home, arguments)
    if code != 0:
        raise EngineError(f"Neo4j refused its first password: {_telling(said)}", where=str(home))


def _admin(java: str, classpath: str, home: Path, arguments: list[str]) -> tuple[int, str]:
    """Run neo4j-admin; its exit code and what it printed."""
    memory = [f"-Xmx{heap_size()}", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    done = subprocess.run(
        [java, *memory, "-cp", classpath, "org.neo4j.cli.AdminTool", *arguments],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        cwd=home,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _detach(command: list[str], home: Path) -> int:
    """Start a process that is no child of ours: no Ctrl-C reaches it, and nobody has to wait for it."""
    middle = (
        "import os, subprocess, sys\n"
        "log = open(sys.argv[1], 'wb')\n"
        "flags = getattr(subprocess, 'CREATE_NEW_PROCESS_GROUP', 0) | getattr(subprocess, "
        "'CREATE_NO_WINDOW', 0)\n"
        "child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, "
        "cwd=os.path.dirname(sys.argv[1]),\n"
        "    start_new_session=True, creationflags=flags)\n"
        "print(child.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", middle, str(home / LOG), *command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise EngineError(f"Java does not start: {done.stderr.strip().splitlines()[-1]}", where=command[0])
    return int(done.stdout)


def _command_line(pid: int) -> str:
    proc = Path(f"/proc/{pid}/cmdline")
    try:
        if Path("/proc/self").exists():
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        if os.name == "posix":
            command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
        else:
            query = f"(Get-CimInstance Win32_Process -Filter 'ProcessId={pid}').CommandLine"
            command = ["powershell", "-NoProfile", "-Command", query]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
    except OSError:
        return ""


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _log(home: Path) -> str:
    return (home / LOG).read_text(encoding="utf-8", errors="replace")


def _reason(home: Path) -> str:
    return _telling(_log(home))


def _telling(said: str) -> str:
    """The lines of a log that say what went wrong, as one."""
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("at ")
    ]
    telling = [line for line in lines if "ERROR" in line or "Caused by" in line or "Exception" in line]
    return " | ".join((telling or lines)[-3:])[-600:] or "no reason given"


def find_java(majors: tuple[int, ...], wanted_by: str) -> str:
    """The path of a `java` of one of the major versions: JAVA_HOME, then PATH, then the usual places.
    EngineError names what was found."""
    seen: dict[int, str] = {}
    for java in candidates():
        major = major_of(java)
        if major in majors:
            return java
        if major:
            seen.setdefault(major, java)
    wanted = " or ".join(map(str, majors))
    others = ", ".join(f"{major} ({path})" for major, path in sorted(seen.items()))
    raise EngineError(
        f"{wanted_by} needs Java {wanted}, and "
        f"{f'only Java {others} was found' if others else 'no Java was found'}",
        hint=f"Install Java {majors[-1]} or set JAVA_HOME; with a Docker engine no Java is needed",
    )


def candidates() -> Iterable[str]:
    """Every `java` of this machine that we know how to find, each once, best first."""
    name = "java.exe" if os.name == "nt" else "java"
    found: list[Path] = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(Path(home) / "bin" / name)
    if path := shutil.which("java"):
        found.append(Path(path))
    for pattern in _PLACES:
        place = Path(pattern).expanduser()
        anchor = Path(place.anchor)
        if anchor.exists():
            found.extend(
                folder / "bin" / name
                for folder in sorted(anchor.glob(str(place.relative_to(anchor))), reverse=True)
            )
    return dict.fromkeys(str(java.resolve()) for java in found if java.is_file())


def major_of(java: str) -> int | None:
    """The major version of a Java, None where it does not run."""
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, errors="replace", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(match[1]) if match else None
