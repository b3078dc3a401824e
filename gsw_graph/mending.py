"""Broken documents loaded again, or forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.errors import GswGraphError
from gsw_graph.extract import EXTRACTORS
from gsw_graph.results import Finding, LoadReport

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.store.deep import Broken


def mend_documents(
    connection: Connection, load: Callable[..., LoadReport], may_forget: Callable[[list[str]], bool] | None
) -> list[Finding]:
    """Find broken documents, repair storage and indexes, and load these documents again from their files;
    what has none is forgotten if `may_forget`.

    They go out of sight first: after a crash in between they are documents whose load was cut off, and not
    sound ones that have lost a part.
    """
    from gsw_graph import doctor
    from gsw_graph.store import deep, schema, writer
    from gsw_graph.store.reader import Reader

    state = schema.read_state(connection)
    if state is None:
        return []
    reader = Reader(connection)
    broken = deep.broken_documents(reader, state.dimension)
    with connection.session() as session:
        writer.hide(session, [one.id for one in broken])
    if connection.dialect.check() or deep.wrong_indexes(reader, state.dimension):
        connection.dialect.check(mend=True)
        schema.rebuild(connection, state.dimension)
    doctor.mend(connection)
    there = [one for one in broken if Path(one.source).is_file()]
    gone = [one for one in broken if one not in there]
    findings = _loaded(there, load) if there else []
    if gone:
        findings.append(_forgotten(connection, gone, may_forget))
    return findings


def _loaded(broken: list[Broken], load: Callable[..., LoadReport]) -> list[Finding]:
    """Load documents again, each by the extractor that read it."""
    by_extractor: dict[str, list[str]] = {}
    for one in broken:
        extractor = one.extractor if one.extractor in EXTRACTORS else "auto"
        by_extractor.setdefault(extractor, []).append(one.source)
    found = []
    for extractor, sources in by_extractor.items():
        try:
            report = load(*sources, extractor=extractor)
        except GswGraphError as error:
            hint = f"gswgraph load --extractor {extractor} {sources[0]}"
            found.append(Finding("loaded again", False, f"{len(sources)} by {extractor}: {error}", hint))
            continue
        failed = ", ".join(f"{failure.source}: {failure.reason}" for failure in report.failures[:5])
        done = report.documents.new + report.documents.replaced
        text = f"{done} of {len(sources)} broken by {extractor}{f'; {failed}' if failed else ''}"
        found.append(
            Finding(
                "loaded again",
                done == len(sources),
                text,
                None if done == len(sources) else "gswgraph load PATH...",
            )
        )
    return found


def _forgotten(
    connection: Connection, broken: list[Broken], may_forget: Callable[[list[str]], bool] | None
) -> Finding:
    from gsw_graph.store import writer

    sources = [one.source for one in broken]
    names = ", ".join(sources[:5]) + (", ..." if sources[5:] else "")
    if may_forget is None or not may_forget(sources):
        hint = f"Load it again from where it came, or gswgraph forget {sources[0]}"
        return Finding(
            "not mended",
            False,
            f"{len(sources)} broken without a file to load again, out of sight now: {names}",
            hint,
        )
    with connection.session() as session:
        writer.forget(session, [one.id for one in broken])
    return Finding("forgotten", True, f"{len(sources)} broken without a file to load again: {names}")
