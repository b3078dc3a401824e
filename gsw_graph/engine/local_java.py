"""Find a Java whose version fits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from gsw_graph.errors import EngineError

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
