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
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from glob import glob
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from gsw_graph.cypher import LABELS, TYPES, statement
from gsw_graph.engine.embedded import heap_size
from gsw_graph.engine.embedded_folder import listens, write_private
from gsw_graph.errors import EngineError

if TYPE_CHECKING:
    from gsw_graph.config import Settings

Report = Callable[[str], None]

# Exact releases, so that two machines run the same server. Not 2026.08.0: its queries can fail.
RELEASES = {"5.26": "5.26.30", "2026": "2026.08.1"}
DEFAULT_VERSION = "5.26"
BOLT_PORT, HTTP_PORT = 7687, 7474
USER = "neo4j"
LOG = "neo4j.log"
START_SECONDS, STOP_SECONDS = 180, 120
_MEMORIES = "memories.json"  # of the home: the named memories that it holds, as far as they were seen
_STATE = ("release", "port", "http_port", "by", "pid")  # what `start` remembers in `server.json` of the home
_JAVA = {"5.26": (17, 21), "2026": (21, 25)}  # which majors a version line runs on
_MAIN = {"5.26": "org.neo4j.server.CommunityEntryPoint", "2026": "org.neo4j.server.Neo4jCommunity"}
_OPENS = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_FLAGS = {
    "5.26": [],
    "2026": [
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "--add-modules=jdk.incubator.vector",
    ],
}
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
_STARTED: list[subprocess.Popen[bytes]] = []  # nobody waits for their end: they outlive this process
_RULE = re.compile(r"([\w.]+) \{\n(.*?)\n\}", re.DOTALL)
_SETTING = re.compile(r"^\s*([\w-]+): (.*);$", re.MULTILINE)
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
    """A private Neo4j as it is now; `by` is "docker" or "maven", `pid` None under Docker or when it does not
    run."""

    version: str
    release: str
    running: bool
    url: str
    browser: str
    username: str
    password_file: Path
    home: Path
    by: str
    pid: int | None


def start(
    settings: Settings,
    version: str = DEFAULT_VERSION,
    port: int = BOLT_PORT,
    http_port: int = HTTP_PORT,
    report: Report = lambda _: None,
) -> LocalServer:
    """Start the server of a version line and wait until it answers; one that runs already is only returned.

    Args:
        settings: whose cache folder has its home.
        version: one of RELEASES.
        port: of Bolt, on the loopback interface.
        http_port: of Neo4j Browser.
        report: called with what is being done.

    Raises:
        EngineError: a port is taken, Java or Maven is missing, or the server does not come up.
    """
    if version not in RELEASES:
        raise EngineError(f"there is no version {version}", hint=f"Choose one of {', '.join(RELEASES)}")
    home = _home(settings, version)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(home / "lock"):  # who starts it at the same time waits
        server = _server(settings, version)
        if server is not None and server.running:
            return server
        for number, option in ((port, "--port"), (http_port, "--http-port")):
            if listens("127.0.0.1", number):
                raise EngineError(f"port {number} is taken", hint=f"Choose another with {option}")
        if not (home / "password").exists():
            # letters and digits only: it passes through environment files and yaml
            write_private(home / "password", secrets.token_hex(16))
        _launch(settings, version, port, http_port, report)
        if _learn_memories(home, port):
            report("Starting it again, so that Browser has the colours of all memories")
            stop(settings, version)
            _launch(settings, version, port, http_port, report)
    server = _server(settings, version)
    if server is None or not server.running:
        raise EngineError(
            "the server ended right after its start", where=str(home), hint=f"Its log is {home / LOG}"
        )
    return server


def _launch(settings: Settings, version: str, port: int, http_port: int, report: Report) -> None:
    """Start a server by Docker or by Java, and remember how."""
    home, release = _home(settings, version), RELEASES[version]
    if docker_answers():
        report(f"Starting Neo4j {release} in Docker")
        _start_docker(home, version, port, http_port)
        by, pid = "docker", None
    else:
        lib = settings.cache_dir / "neo4j" / "lib" / release
        by, pid = "maven", _start_java(home, version, lib, port, http_port, report)
    state = (release, port, http_port, by, pid)
    write_private(home / "server.json", json.dumps(dict(zip(_STATE, state, strict=True))))


def stop(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """Stop the server of a version line, or all; return those that ran, as they are now."""
    running = [server for server in status(settings, version) if server.running]
    for server in running:
        _learn_memories(server.home, int(server.url.rpartition(":")[2]))
        if server.pid is None:
            _compose(server.home, server.version, ["down"], "stop Neo4j", "Is the Docker engine running?")
        else:
            _stop_java(server.home, server.pid)
    return [stopped for server in running for stopped in status(settings, server.version)]


def status(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """Return the private servers ever started, running or not."""
    servers = (_server(settings, line) for line in ([version] if version else RELEASES))
    return [server for server in servers if server is not None]


def password_for(settings: Settings, port: int) -> str | None:
    """Return the password of the private server that runs on a Bolt port, None where none does."""
    for server in status(settings):
        if server.url.endswith(f":{port}") and server.running:
            return server.password_file.read_text(encoding="utf-8").strip()
    return None


def _home(settings: Settings, version: str) -> Path:
    return (settings.cache_dir / "neo4j" / version).absolute()


def _server(settings: Settings, version: str) -> LocalServer | None:
    home = _home(settings, version)
    try:
        state = json.loads((home / "server.json").read_text(encoding="utf-8"))
        release, port, http_port, by, pid = (state[name] for name in _STATE)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    running = _docker_runs(home, version) if pid is None else _java_runs(home, pid)
    return LocalServer(
        version=version,
        release=release,
        running=running,
        url=f"bolt://127.0.0.1:{port}",
        browser=f"http://127.0.0.1:{http_port}/browser/?dbms=bolt://{USER}@127.0.0.1:{port}",
        username=USER,
        password_file=home / "password",
        home=home,
        by=by,
        pid=pid if running else None,
    )


def style(memories: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Return the style of our labels as Neo4j Browser keeps it: by node or relationship and its label, what
    is set in `gswgraph.grass`, for the default memory and the named ones."""
    text = (files("gsw_graph.engine") / "gswgraph.grass").read_text(encoding="utf-8")
    rules = {
        selector: {name: value.strip("'") for name, value in _SETTING.findall(body)}
        for selector, body in _RULE.findall(text)
    }
    named: dict[str, dict[str, str]] = {}
    for memory in memories:
        for label in LABELS:
            named[f"node.{label}__{memory}"] = rules[f"node.{label}"]
        for kind in TYPES:
            rule = {"caption": kind, **rules.get(f"relationship.{kind}", {})}
            named[f"relationship.{kind}__{memory}"] = _with_plain_type(rule, kind)
    return rules | named


def _with_plain_type(rule: dict[str, str], kind: str) -> dict[str, str]:
    return {name: value.replace("<type>", kind) for name, value in rule.items()}


def style_sheet(memories: Iterable[str] = ()) -> str:
    """Return `style` as a file that is dropped on Neo4j Browser."""
    blocks = []
    for selector, rule in style(memories).items():
        lines = [f"  {name}: {_quoted(name, value)};" for name, value in rule.items()]
        blocks.append("\n".join([f"{selector} {{", *lines, "}"]))
    return "\n".join([*blocks, ""])


def _quoted(name: str, value: str) -> str:
    return f"'{value}'" if name == "caption" else value


def after_login(memories: Iterable[str] = ()) -> str:
    """Write what a server has Browser do after a login (`browser.post_connect_cmd`): take the style, and put
    away the frames that greet, which speak of films. As JSON, because a semicolon ends a command."""
    return f"style {json.dumps(style(memories), separators=(',', ':'))}; clear"


def styled_memories(home: Path) -> list[str]:
    """Return the named memories whose style Browser has when a server starts on a home."""
    try:
        found = json.loads((home / _MEMORIES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(name) for name in found]


def _learn_memories(home: Path, port: int) -> bool:
    """Write down which memories a running server holds; return whether Browser has no style for one of them.

    Browser takes its style from the configuration, which is read when the server starts.
    """
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        password = (home / "password").read_text(encoding="utf-8").strip()
        with GraphDatabase.driver(
            f"bolt://127.0.0.1:{port}",
            auth=(USER, password),
            connection_timeout=5,
            max_transaction_retry_time=5,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        ) as driver:
            records, _, _ = driver.execute_query(statement("read/memories"))
    except (DriverError, Neo4jError, OSError):  # somebody changed the password: Browser shows grey nodes
        return False
    names = sorted(str(record["label"]).partition("__")[2] for record in records)
    named = [name for name in names if name]
    is_new = not set(named) <= set(styled_memories(home))
    write_private(home / _MEMORIES, json.dumps(named))
    return is_new


def _run(command: list[str], **options: object) -> tuple[int, str]:
    """Run a command; its exit code, 127 where it cannot be started, and what it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr


# By Docker


def docker_answers() -> bool:
    """Tell whether a Docker engine with compose answers."""
    commands = (["docker", "info"], ["docker", "compose", "version"])
    return all(_run(command, timeout=20)[0] == 0 for command in commands)


def _start_docker(home: Path, version: str, port: int, http_port: int) -> None:
    """Bring the container up and wait until it is healthy."""
    values = {
        "GSWGRAPH_BOLT_PORT": str(port),
        "GSWGRAPH_HTTP_PORT": str(http_port),
        "GSWGRAPH_NEO4J_PASSWORD": (home / "password").read_text(encoding="utf-8"),
        "GSWGRAPH_BROWSER_AFTER_LOGIN": after_login(styled_memories(home)),
        f"GSWGRAPH_NEO4J_{version.replace('.', '_')}": RELEASES[version],
    }
    start = f"start Neo4j {RELEASES[version]}"
    _compose(home, version, ["up", "--detach", "--wait"], start, "See docker compose logs", **values)


def _docker_runs(home: Path, version: str) -> bool:
    with contextlib.suppress(EngineError):
        return bool(_compose(home, version, ["ps", "--quiet", "--status", "running"], "tell", "").strip())
    return False


def _compose(home: Path, version: str, command: list[str], aim: str, hint: str, **values: str) -> str:
    """Run `docker compose` on the project of a home. EngineError: it could not do what is its aim."""
    line = ["docker", "compose", "--file", str(Path(str(files("gsw_graph.docker"))) / "compose.yml")]
    line += ["--project-name", f"gswgraph-{hashlib.sha256(str(home).encode()).hexdigest()[:8]}"]
    environment = {**os.environ, "GSWGRAPH_NEO4J_PASSWORD": "unused", **values}
    code, output = _run([*line, "--profile", version, *command], env=environment)
    if code != 0:
        reason = output.replace(environment["GSWGRAPH_NEO4J_PASSWORD"], "***")
        raise EngineError(f"Docker could not {aim}: {' '.join(reason.split())[-400:]}", hint=hint)
    return output


# By Maven and Java


def _start_java(home: Path, version: str, lib: Path, port: int, http_port: int, report: Report) -> int:
    """Start a server on `home` that outlives this process; return its process id when it answers."""
    release = RELEASES[version]
    java = find_java(_JAVA[version], f"Neo4j {release}")
    if not lib.is_dir():
        report(f"Getting Neo4j {release} from Maven Central (about 150 MB, once)")
        _get_jars(lib, release)
    for name in ("conf", "plugins", "import"):
        (home / name).mkdir(exist_ok=True)
    command_of_browser = after_login(styled_memories(home))
    conf = _CONF.format(port=port, http_port=http_port, after_login=command_of_browser)
    conf += _CONF_2026 if version == "2026" else ""
    (home / "conf" / "neo4j.conf").write_text(conf, encoding="utf-8")
    command = [java, "-cp", f"{lib}{os.sep}*", f"-Xmx{heap_size()}"]
    command += [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENS]
    if not (home / "data" / "databases" / "system").exists():
        _set_password(command, home)
    report(f"Starting Neo4j {release}")
    command += [*_FLAGS[version], _MAIN[version], f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    with (home / LOG).open("wb") as log:  # no Ctrl-C reaches it
        process = subprocess.Popen(
            [*command, "--console-mode"],
            env=_java_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    _STARTED.append(process)
    try:
        _await(home, process, port)
    except BaseException:  # Ctrl-C too: nobody would know of the server
        if process.poll() is None:
            _stop_java(home, process.pid)
        raise
    return process.pid


def _java_environment() -> dict[str, str]:
    """Return our environment with a locale in which Java can name every file."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    is_utf8 = "utf" in next(filter(None, named), "").lower()
    return dict(os.environ) if is_utf8 else {**os.environ, "LC_ALL": "C.UTF-8"}


def _await(home: Path, process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        log = (home / LOG).read_text(encoding="utf-8", errors="replace")
        if "Started." in log and listens("127.0.0.1", port):
            return
        if time.monotonic() > end or process.poll() is not None:
            raise EngineError(
                f"Neo4j did not start within {START_SECONDS} s ({_reason(log)})",
                where=str(home),
                hint=f"Its log is {home / LOG}",
            )
        time.sleep(0.1)


def _java_runs(home: Path, pid: int) -> bool:
    """Tell whether `pid` is the server of `home`; a number that the system gave to another process is not."""
    query = f"(Get-CimInstance Win32_Process -Filter 'ProcessId={pid}').CommandLine"
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)] if os.name == "posix" else ["powershell", query]
    if Path("/proc/self").exists():
        command = ["cat", f"/proc/{pid}/cmdline"]
    return str(home) in _run(command)[1]


def _stop_java(home: Path, pid: int) -> None:
    """End the server cleanly and wait for it."""
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    while _java_runs(home, pid):
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
        command = [maven, "-q", "-B", "-f", str(pom), f"-Dneo4j.version={release}"]
        code, output = _run([*command, f"-DoutputDirectory={folder}/lib", "dependency:copy-dependencies"])
        if code != 0:
            raise EngineError(
                f"Maven could not get Neo4j {release}: {_reason(output)}",
                hint="Check the network and try again",
            )
        if not lib.is_dir():
            (Path(folder) / "lib").rename(lib)


def _set_password(java: list[str], home: Path) -> None:
    # by @file, because every user of the machine can see a command line
    admin = ["org.neo4j.cli.AdminTool", "dbms", "set-initial-password", f"@{home / 'password'}"]
    environment = _java_environment() | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    code, output = _run([*java, *admin], env=environment, cwd=home)
    if code != 0:
        raise EngineError(f"Neo4j refused its first password: {_reason(output)}", where=str(home))


def _reason(log: str) -> str:
    """Return the lines of a log that say what went wrong, as one."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if re.search("ERROR|Caused by|Exception", line)]
    return " | ".join((errors or lines)[-3:])[-600:] or "no reason given"


def find_java(majors: tuple[int, ...], purpose: str) -> str:
    """Return the path of a `java` of one of some major versions: JAVA_HOME, then PATH, then the usual places.
    EngineError where there is none."""
    name = "java.exe" if os.name == "nt" else "java"
    usual = [sorted(glob(os.path.expanduser(place)), reverse=True) for place in _PLACES]  # noqa: PTH111, PTH207
    javas = [Path(home) / "bin" / name for home in (os.environ.get("JAVA_HOME"), *chain(*usual)) if home]
    javas.insert("JAVA_HOME" in os.environ, Path(shutil.which("java") or name))
    version = re.compile(rf'version "({"|".join(map(str, majors))})\b')
    for java in dict.fromkeys(path.resolve() for path in javas if path.is_file()):
        if version.search(_run([str(java), "-version"], timeout=30)[1]):
            return str(java)
    raise EngineError(
        f"{purpose} needs Java {' or '.join(map(str, majors))}, and there is none",
        hint=f"Install Java {majors[-1]} or set JAVA_HOME; with a Docker engine no Java is needed",
    )
