"""Our files into the private Neo4j, and what is left to do in a database that `neo4j-admin database import`
made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.engine import local
from gsw_graph.errors import EngineError
from gsw_graph.moving import fileset

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection


def into_private(
    settings: Settings,
    files: Path,
    version: str = local.DEFAULT_VERSION,
    report: Callable[[str], None] = lambda _: None,
) -> fileset.Manifest:
    """Make the database of the private Neo4j, which must not run, and must hold none yet, of a set of files.
    Returns what was in them. `local.start` and `finish` come next. InputError: no set of files. EngineError:
    as of `local.import_files`."""
    fileset.needs_pyarrow()
    found = fileset.manifest(files)
    local.import_files(settings, files.absolute(), fileset.command(found.counts), version, report)
    return found


def finish(connection: Connection) -> bool:
    """Make an imported memory whole: constraints, texts that are empty, indexes, a count of what is there.
    Whether there was one; the second time there is none. EngineError: not all of the files was imported."""
    from gsw_graph.store import schema, transfer

    state = schema.read_state(connection)
    if state is None or state.moving is None:
        return False
    mark = transfer.Mark.read(state.moving)
    if not mark.imported:
        return False
    schema.check_known(state)
    there = sum(transfer.totals(connection))
    if there != mark.done:
        raise EngineError(
            f"the files have {mark.done:,} nodes and relationships, and {there:,} were imported",
            where=connection.url,
            hint="See import.report of neo4j-admin; gswgraph bulk DIR --check looks at the files",
        )
    schema.make_constraints(connection)
    transfer.fill(connection, mark.blank)
    schema.build_search_indexes(connection, state.dimension)
    transfer.end(connection, state.version)
    return True
