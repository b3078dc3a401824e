"""A private Neo4j made of a set of files."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import engines

from gsw_graph.config import Settings
from gsw_graph.engine import local, local_docker
from gsw_graph.moving import importing

VERSION = "5.26"


@contextlib.contextmanager
def imported(files: Path, folder: Path, *, cache: Path | None = None) -> Iterator[Settings]:
    """Settings of a Neo4j that holds what is in `files`, as the import left it. cache: of jars that are there."""
    settings = engines.private_cache(folder) if cache is None else Settings(cache_dir=cache)
    home = settings.cache_dir / "neo4j" / VERSION
    has_jars = (settings.cache_dir / "neo4j" / "lib" / local.RELEASES[VERSION]).is_dir()
    if local_docker.answers() or not engines.fitting_java(VERSION) or not (has_jars or shutil.which("mvn")):
        engines.cannot_have(f"the import into Neo4j {VERSION}", "it needs Java and Maven, and no Docker engine")
    importing.into_private(settings, files, VERSION)
    server = local.start(settings, VERSION, *engines.free_ports())
    try:
        yield replace(settings, memory=server.url, password=(home / "password").read_text().strip())
    finally:
        local.stop(settings, VERSION)
