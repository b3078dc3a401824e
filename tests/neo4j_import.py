"""A private Neo4j made of a set of files by `neo4j-admin database import`, run from the jars of the Maven assembly."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import engines

from gsw_graph.config import Settings
from gsw_graph.engine import local, local_java, local_maven
from gsw_graph.errors import EngineError
from gsw_graph.moving import fileset

VERSION = "5.26"


@contextlib.contextmanager
def imported(files: Path, folder: Path, *, cache: Path | None = None) -> Iterator[Settings]:
    """Settings of a Neo4j that holds what is in `files`, as the import left it. cache: of jars that are there."""
    settings = engines.private_cache(folder) if cache is None else Settings(cache_dir=cache)
    home = settings.cache_dir / "neo4j" / VERSION
    try:
        run_import(files, settings)
        bolt, http = engines.free_ports()
        server = local.start(settings, VERSION, bolt, http)
    except EngineError as error:
        engines.cannot_have(f"the import into Neo4j {VERSION}", str(error))
    try:
        yield replace(settings, memory=server.url, password=(home / "password").read_text().strip())
    finally:
        local.stop(settings, VERSION)


def run_import(files: Path, settings: Settings) -> str:
    """Import into the private server of `settings`, which has not been started yet; what the tool says."""
    home, lib = settings.cache_dir / "neo4j" / VERSION, settings.cache_dir / "neo4j" / "lib" / local.RELEASES[VERSION]
    java = local_java.find_java(local_maven._JAVA[VERSION.split(".")[0]], f"Neo4j {VERSION}")
    if not lib.is_dir():
        local_maven._get_jars(lib, local.RELEASES[VERSION])
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "neo4j.conf").write_text("server.memory.pagecache.size=256m\n")
    local._password(home)
    local_maven._set_password(java, lib, home)  # which the first start does only where there are no data yet
    # parquet-floor has most of what reading needs of Hadoop, and comes first; the same classes of hadoop-common want what the assembly has not
    jars = sorted(map(str, lib.glob("*.jar")), key=lambda jar: ("parquet-floor" not in jar, "hadoop-common" in jar, jar))
    flags = ["-Xmx1g", "--add-opens=java.base/java.nio=ALL-UNNAMED", *local_maven._FLAGS[VERSION.split(".")[0]]]
    command = [java, *flags, "-cp", os.pathsep.join(jars), "org.neo4j.cli.AdminTool"]
    arguments = fileset.command(fileset.manifest(files).counts, str(files))
    done = subprocess.run(
        [*command, *arguments, "--verbose"],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
