"""The files that `bulk` writes hold what a load writes, here and on a Ray cluster, and Neo4j imports them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import engines
import fakes
import numpy as np
import pytest
import samples
from click.testing import CliRunner
from dump import Dump, differences, dump

from gsw_graph.cli import main
from gsw_graph.config import Settings
from gsw_graph.engine import connect, local
from gsw_graph.errors import InputError
from gsw_graph.load import moving
from gsw_graph.load.bulk import bulk
from gsw_graph.memory import Memory
from gsw_graph.store.nodes import Kind, Label, kinds

EXAMPLES = Path(__file__).parents[1] / "examples"
fake_embedder = fakes.fake_embedder
pq = engines.needs("pyarrow.parquet", "bulk")
# What Parquet needs in neo4j-admin: the distribution has it, the server's artifacts do not ask Maven for it.
HADOOP = (
    "com.fasterxml.woodstox:woodstox-core:6.6.2 org.codehaus.woodstox:stax2-api:4.2.2 "
    "org.apache.commons:commons-collections4:4.4 org.apache.hadoop.thirdparty:hadoop-shaded-guava:1.5.0"
).split()


def corpus(folder: Path) -> list[str]:
    return [*samples.write(folder), str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl")]


def rows_of(folder: Path) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """What the files say, as a dump has it."""
    for kind in kinds():
        for file in sorted((folder / kind.name.replace(" ", ".")).glob("*.parquet")):
            for row in pq.read_table(file).to_pylist():
                ends = [value for header, value in row.items() if header.startswith(":")]
                values = {
                    header.partition(":")[0]: np.array(value, np.int8).tobytes()
                    if header.endswith(":byte[]") and value
                    else value
                    for header, value in row.items()
                    if not header.startswith(":") and value is not None
                }
                if isinstance(kind, Label):
                    yield kind, {"key": values[kind.key], "properties": values}
                else:
                    yield kind, {"key": ends[0], "end": ends[1], "properties": values}


def loaded(names: list[str], settings: Settings) -> Dump:
    with Memory.open(settings=settings) as memory:
        assert memory.load(*names).failures == []
        return dump(memory)


def imported(folder: Path, settings: Settings) -> Dump:
    with closing(connect(settings)) as connection:
        moving._write_all(connection, rows_of(folder), lambda _: None)
    with Memory.open(settings=settings) as memory:
        return dump(memory)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of Ray itself
@pytest.mark.parametrize("ray", ["", pytest.param("local", marks=pytest.mark.slow)])
def test_files_hold_what_a_load_writes(tmp_path: Path, ray: str) -> None:
    if ray:  # which no other test needs, and is large
        pytest.importorskip("ray", reason="NOT TESTED: bulk on Ray (the extra `bulk` is not installed)")
    names = corpus(tmp_path)
    settings = Settings(memory=str(tmp_path / "memory"))
    report = bulk([*names, str(tmp_path / "gone")], tmp_path / "files", settings, ray=ray)
    assert [failure.reason for failure in report.failures] == ["no such file or folder"]
    expected = loaded(names, settings)
    assert (
        report.documents.new
        == report.nodes["Document"]
        == sum(node[0] == "Document" for node in expected["nodes"])
    )
    assert (
        differences(
            expected, imported(tmp_path / "files", replace(settings, memory=str(tmp_path / "imported")))
        )
        == []
    )
    with pytest.raises(InputError, match="something here already"):
        bulk(names, tmp_path / "files", settings)


def test_the_command_prints_how_the_files_are_imported(tmp_path: Path, fake_embedder: None) -> None:
    result = CliRunner().invoke(
        main,
        ["bulk", str(EXAMPLES / "workspaces.jsonl"), str(tmp_path / "gone"), "--to", str(tmp_path / "files")],
    )
    assert result.exit_code == 4  # done in part
    assert f"--nodes=Passage={tmp_path}/files/Passage/" in result.stdout
    assert "doctor --mend" in result.stdout
    assert "gone: no such file" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("version", ["5.26"])
def test_neo4j_imports_the_files(tmp_path: Path, version: str) -> None:
    """The command as it is printed, but for the name of the program, for which the private server has no script."""
    if local.docker_answers() or not engines.fitting_java(version) or not shutil.which("mvn"):
        engines.cannot_have("neo4j-admin", "it needs Java 17 or 21, Maven, and no Docker engine")
    settings = engines.private_cache(tmp_path / "cache")
    names = corpus(tmp_path)
    report = bulk(names, tmp_path / "files", settings)
    expected = loaded(names, replace(settings, memory=str(tmp_path / "memory")))
    bolt, http = engines.free_ports()
    server = local.start(settings, version, bolt, http)
    local.stop(settings, version)
    for part in ("databases", "transactions"):  # as before the first start, but with a password
        shutil.rmtree(server.home / "data" / part / "neo4j")
    program, *arguments = shlex.split(report.note or "")
    assert program == "neo4j-admin"
    for artifact in HADOOP:
        options = [f"-Dartifact={artifact}", f"-DoutputDirectory={tmp_path / 'jars'}"]
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", *options], cwd=tmp_path, check=True)
    java, jars = (
        local.find_java(local._JAVA[version], version),
        settings.cache_dir / "neo4j" / "lib" / server.release,
    )
    environment = {**os.environ, "NEO4J_HOME": str(server.home), "NEO4J_CONF": str(server.home / "conf")}
    admin = [java, "-cp", f"{jars}/*{os.pathsep}{tmp_path}/jars/*", "org.neo4j.cli.AdminTool"]
    subprocess.run([*admin, *arguments], env=environment, cwd=tmp_path, check=True)
    local.start(settings, version, bolt, http)
    try:
        with Memory.open(settings=replace(settings, memory=server.url)) as memory:
            assert [finding.check for finding in memory.doctor() if not finding.ok] == ["indexes"]
            assert all(finding.ok for finding in memory.doctor(mend=True, deep=True))
            assert memory.ask("Who founded the Vessna foundry?", answer=False).passages
            assert differences(expected, dump(memory)) == []
    finally:
        local.stop(settings, version)
