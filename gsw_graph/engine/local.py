"""Run a private Neo4j with Browser for one user, by Docker if an engine answers, else from Maven Central with
Java.

Everything lies below `settings.cache_dir / "neo4j"`: `lib/<release>/` the jars, `<line>/` one home for
each version line.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from gsw_graph.cypher import LABELS, TYPES, statement
from gsw_graph.engine import open_driver
from gsw_graph.engine.embedded import OWN_WINDOW, heap_size
from gsw_graph.engine.embedded_folder import listens, write_private
from gsw_graph.errors import EngineError
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from gsw_graph.config import Settings

Report = Callable[[str], None]
Style = dict[str, dict[str, str]]  # settings by node or relationship and its label

# Exact releases, so that two machines run the same server. Not 2026.08.0: its queries can fail.
RELEASES = {"5.26": "5.26.30", "2026": "2026.08.1"}
DEFAULT_VERSION = "5.26"
BOLT_PORT, HTTP_PORT = 7687, 7474
USER = "neo4j"
LOG = "neo4j.log"
START_SECONDS, STOP_SECONDS = 180, 120
_MEMORIES = "memories.json"  # of the home: the named memories that it holds, as far as they were seen
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
    """Hold the state of a private Neo4j. `by` is "docker" or "maven"; `pid` is None under Docker and for a
    stopped server."""

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
    """Start the server of a version line and wait until it answers. A running server is only returned.

    Args:
        settings: Settings, whose cache folder has the server's home.
        version: A line of RELEASES.
        port: Port of Bolt, on the loopback interface.
        http_port: Port of Neo4j Browser.
        report: Called with each step, in words.

    Raises:
        EngineError: A port is taken, Java or Maven is missing, or the server does not come up.
    """
    if version not in RELEASES:
        raise EngineError(f"there is no version {version}", hint=f"Choose one of {', '.join(RELEASES)}")
    home = _home(settings, version)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(home / "lock"):  # who starts it at the same time waits
        server = _server(settings, version)
        if server is not None and server.running:
            return server
        _check_port(port, "--port")
        _check_port(http_port, "--http-port")
        password = home / "password"
        if not password.exists():
            # letters and digits only: it passes through environment files and yaml
            write_private(password, secrets.token_hex(16))
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


def _check_port(port: int, option: str) -> None:
    if listens("127.0.0.1", port):
        raise EngineError(f"port {port} is taken", hint=f"Choose another with {option}")


def _launch(settings: Settings, version: str, port: int, http_port: int, report: Report) -> None:
    """Start a server by Docker or by Java, and remember how."""
    home, release = _home(settings, version), RELEASES[version]
    state = {"release": release, "port": port, "http_port": http_port, "by": "docker", "pid": None}
    if docker_answers():
        report(f"Starting Neo4j {release} in Docker")
        _start_docker(home, version, port, http_port)
    else:
        lib = settings.cache_dir / "neo4j" / "lib" / release
        state["by"] = "maven"
        state["pid"] = _start_java(home, version, lib, port, http_port, report)
    write_private(home / "server.json", json.dumps(state))


def stop(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """Stop the server of a version line, or all servers. Return the servers that ran, in their new state."""
    stopped = []
    for server in status(settings, version):
        if not server.running:
            continue
        _learn_memories(server.home, int(server.url.rpartition(":")[2]))
        if server.pid is None:
            _compose(server.home, server.version, ["down"], "stop Neo4j", "Is the Docker engine running?")
        else:
            _stop_java(server.home, server.pid)
        stopped += status(settings, server.version)
    return stopped


def status(settings: Settings, version: str | None = None) -> list[LocalServer]:
    """Return the private servers ever started, running or not."""
    servers = (_server(settings, line) for line in ([version] if version else RELEASES))
    return [server for server in servers if server is not None]


def password_for(settings: Settings, port: int) -> str | None:
    """Return the password of the private server on a Bolt port; None if no server runs there."""
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
        port, pid = state["port"], state["pid"]
        url = f"bolt://127.0.0.1:{port}"
        browser = f"http://127.0.0.1:{state['http_port']}/browser/?dbms=bolt://{USER}@127.0.0.1:{port}"
        running = _docker_runs(home, version) if pid is None else _java_runs(home, pid)
        return LocalServer(
            version=version,
            release=state["release"],
            running=running,
            url=url,
            browser=browser,
            username=USER,
            password_file=home / "password",
            home=home,
            by=state["by"],
            pid=pid if running else None,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def style(memories: Iterable[str] = ()) -> Style:
    """Return the style of our labels as Neo4j Browser keeps it: by node or relationship and its label, what
    is set in `gswgraph.grass`, for the default memory and the named ones."""
    text = (files("gsw_graph.engine") / "gswgraph.grass").read_text(encoding="utf-8")
    rules: Style = {}
    for selector, body in _RULE.findall(text):
        rules[selector] = {name: value.strip("'") for name, value in _SETTING.findall(body)}
    named: Style = {}
    for memory in memories:
        for label in LABELS:
            named[f"node.{label}__{memory}"] = rules[f"node.{label}"]
        for kind in TYPES:
            rule = {"caption": kind, **rules.get(f"relationship.{kind}", {})}
            rule["caption"] = rule["caption"].replace("<type>", kind)
            named[f"relationship.{kind}__{memory}"] = rule
    return rules | named


def style_sheet(memories: Iterable[str] = ()) -> str:
    """Return `style` as a file that is dropped on Neo4j Browser."""
    lines = []
    for selector, rule in style(memories).items():
        lines.append(f"{selector} {{")
        for name, value in rule.items():
            shown = f"'{value}'" if name == "caption" else value
            lines.append(f"  {name}: {shown};")
        lines.append("}")
    return "\n".join([*lines, ""])


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
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        password = (home / "password").read_text(encoding="utf-8").strip()
        with open_driver(
            f"bolt://127.0.0.1:{port}",
            (USER, password),
            connection_timeout=5,
            max_transaction_retry_time=5,
        ) as driver:
            records = driver.execute_query(statement("read/memories")).records
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
    command = ["ps", "--quiet", "--status", "running"]
    try:
        return bool(_compose(home, version, command, "tell", "").strip())
    except EngineError:
        return False


def _compose(home: Path, version: str, command: list[str], aim: str, hint: str, **values: str) -> str:
    """Run `docker compose` on the project of a home. EngineError: it could not do what is its aim."""
    project = f"gswgraph-{hashlib.sha256(str(home).encode()).hexdigest()[:8]}"
    line = ["docker", "compose", "--file", str(_docker_file("compose.yml")), "--project-name", project]
    environment = {**os.environ, "GSWGRAPH_NEO4J_PASSWORD": "unused", **values}
    code, output = _run([*line, "--profile", version, *command], env=environment)
    if code != 0:
        reason = single_spaced(output.replace(environment["GSWGRAPH_NEO4J_PASSWORD"], "***"))
        raise EngineError(f"Docker could not {aim}: {reason[-400:]}", hint=hint)
    return output


def _docker_file(*parts: str) -> Path:
    return Path(str(files("gsw_graph.docker")), *parts)


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
    conf = _CONF.format(port=port, http_port=http_port, after_login=after_login(styled_memories(home)))
    if version == "2026":
        conf += _CONF_2026
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
            creationflags=OWN_WINDOW,
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
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = os.environ.get(name)
        if value:
            return dict(os.environ) if "utf" in value.lower() else os.environ | {"LC_ALL": "C.UTF-8"}
    return os.environ | {"LC_ALL": "C.UTF-8"}


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
    if Path("/proc/self").exists():
        command = ["cat", f"/proc/{pid}/cmdline"]
    elif os.name == "posix":
        command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    else:
        query = f"(Get-CimInstance Win32_Process -Filter 'ProcessId={pid}').CommandLine"
        command = ["powershell", query]
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
    pom = _docker_file("maven", "pom.xml")
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
    Raises EngineError if there is none."""
    name = "java.exe" if os.name == "nt" else "java"
    homes = [os.environ.get("JAVA_HOME")]
    for place in _PLACES:
        homes += sorted(glob(os.path.expanduser(place)), reverse=True)  # noqa: PTH111, PTH207
    javas = [Path(home) / "bin" / name for home in homes if home]
    javas.insert("JAVA_HOME" in os.environ, Path(shutil.which("java") or name))
    version = re.compile(rf'version "({"|".join(map(str, majors))})\b')
    for java in dict.fromkeys(path.resolve() for path in javas if path.is_file()):
        if version.search(_run([str(java), "-version"], timeout=30)[1]):
            return str(java)
    raise EngineError(
        f"{purpose} needs Java {' or '.join(map(str, majors))}, and there is none",
        hint=f"Install Java {majors[-1]} or set JAVA_HOME; with a Docker engine no Java is needed",
    )
