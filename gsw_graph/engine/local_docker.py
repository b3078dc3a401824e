"""A private Neo4j by Docker: `docker/compose.yml`, one compose project for each home."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

from gsw_graph.errors import EngineError


def answers() -> bool:
    """True where a Docker engine with compose answers."""
    return _quiet(["docker", "info"]) and _quiet(["docker", "compose", "version"])


def start(
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


def stop(home: Path, version: str) -> None:
    """Stop the container; its data stay in their volume."""
    done = _compose(home, version, ["down"])
    if done.returncode != 0:
        raise EngineError(
            f"Docker could not stop Neo4j: {' '.join(done.stderr.split())[-400:]}",
            hint="Is the Docker engine running?",
        )


def runs(home: Path, version: str) -> bool:
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
