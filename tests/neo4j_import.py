"""A private Neo4j made of a set of files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import engines

from gsw_graph.config import Settings
from gsw_graph.engine import local
from gsw_graph.errors import EngineError
from gsw_graph.moving import importing

VERSION = "5.26"


@contextlib.contextmanager
def imported(files: Path, folder: Path, *, cache: Path | None = None) -> Iterator[Settings]:
    """Settings of a Neo4j that holds what is in `files`, as the import left it. cache: of jars that are there."""
    settings = engines.private_cache(folder) if cache is None else Settings(cache_dir=cache)
    home = settings.cache_dir / "neo4j" / VERSION
    try:
        importing.into_private(settings, files, VERSION)
        bolt, http = engines.free_ports()
        server = local.start(settings, VERSION, bolt, http)
    except EngineError as error:
        engines.cannot_have(f"the import into Neo4j {VERSION}", str(error))
    try:
        yield replace(settings, memory=server.url, password=(home / "password").read_text().strip())
    finally:
        local.stop(settings, VERSION)
