"""The files that `bulk` writes hold what a load writes, here and on a Ray cluster, and Neo4j imports them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import engines
import numpy as np
import pytest
import samples
from dump import Dump, differences, dump

from gsw_graph.config import Settings
from gsw_graph.engine import connect
from gsw_graph.errors import InputError
from gsw_graph.load import moving
from gsw_graph.load.bulk import bulk
from gsw_graph.memory import Memory
from gsw_graph.store.nodes import Kind, Label, kinds

EXAMPLES = Path(__file__).parents[1] / "examples"
pq = engines.needs("pyarrow.parquet", "bulk")


def corpus(folder: Path) -> list[str]:
    return [*samples.write(folder), str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl")]


def rows_of(folder: Path) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """What the files say, as a dump has it."""
    for kind in kinds():
        for file in sorted((folder / kind.name.replace(" ", ".")).glob("*.parquet")):
            for row in pq.read_table(file).to_pylist():
                ends = [value for header, value in row.items() if header.startswith(":")]
                values = {
                    header.partition(":")[0]: np.array(value, np.int8).tobytes() if header.endswith(":byte[]") and value else value
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
@pytest.mark.parametrize("ray", ["", "local"])
def test_files_hold_what_a_load_writes(tmp_path: Path, ray: str) -> None:
    if ray:
        engines.needs("ray", "bulk")
    names = corpus(tmp_path)
    settings = Settings(memory=str(tmp_path / "memory"))
    report = bulk([*names, str(tmp_path / "gone")], tmp_path / "files", settings, ray=ray)
    assert [failure.reason for failure in report.failures] == ["no such file or folder"]
    expected = loaded(names, settings)
    assert report.documents.new == report.nodes["Document"] == sum(node[0] == "Document" for node in expected["nodes"])
    assert differences(expected, imported(tmp_path / "files", replace(settings, memory=str(tmp_path / "imported")))) == []
    with pytest.raises(InputError, match="not empty"):
        bulk(names, tmp_path / "files", settings)


def test_an_extractor_that_asks_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not extract by llm"):
        bulk(corpus(tmp_path), tmp_path / "files", Settings(), extractor="llm")
