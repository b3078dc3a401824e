"""A private Neo4j from Maven Central: its jars, its configuration, its process."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from gsw_graph.engine.embedded_process import heap_size
from gsw_graph.engine.local_java import find_java
from gsw_graph.errors import EngineError

LOG, ADMIN_LOG = "neo4j.log", "neo4j-admin.log"
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


def start(
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
            stop(home, pid)
        raise
    return pid


def admin(
    home: Path,
    lib: Path,
    release: str,
    files: Path,
    arguments: list[str],
    begun: Path,
    report: Callable[[str], None],
) -> None:
    """Run `neo4j-admin` in `files` on the data of `home`, which no server has open; `begun` gets its process
    id. EngineError: it fails."""
    java = _java(lib, release, report)
    report(f"Importing into Neo4j {release}")
    # parquet-floor has most of what Parquet needs of Hadoop, and comes first: the same classes of
    # hadoop-common want what is not there
    names = sorted(
        map(str, lib.glob("*.jar")), key=lambda one: ("parquet-floor" not in one, "hadoop-common" in one, one)
    )
    path = os.pathsep.join(names)
    flags = _FLAGS[release.split(".")[0]]
    begun.touch()  # before anything is made
    code, said = _admin(java, path, home, files, [*arguments, "--verbose"], *flags, begun=begun)
    if code != 0:
        (home / ADMIN_LOG).write_text(said, encoding="utf-8")
        raise EngineError(
            f"neo4j-admin {' '.join(arguments[:2])} failed: {_telling(said)}",
            where=str(home),
            hint=f"What it said is in {home / ADMIN_LOG}",
        )


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


def stop(home: Path, pid: int) -> None:
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
    code, said = _admin(java, f"{lib}{os.sep}*", home, home, arguments)
    if code != 0:
        raise EngineError(f"Neo4j refused its first password: {_telling(said)}", where=str(home))


def _admin(
    java: str,
    classpath: str,
    home: Path,
    folder: Path,
    arguments: list[str],
    *flags: str,
    begun: Path | None = None,
) -> tuple[int, str]:
    """The exit code and what it said."""
    memory = [f"-Xmx{heap_size()}", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    with subprocess.Popen(
        [java, *memory, *flags, "-cp", classpath, "org.neo4j.cli.AdminTool", *arguments],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            if begun is not None:
                begun.write_text(str(process.pid), encoding="ascii")
            said, _ = process.communicate()
        except BaseException:  # Ctrl-C: what it writes is removed next
            process.kill()
            raise
    return process.returncode, said


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
