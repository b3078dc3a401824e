"""Load by the workers of a Ray cluster: each loads a part of the documents into one Neo4j server.

A part is a load of its own, by the same code, so that a worker that dies loses nothing: its part is loaded
again, and the documents that it had written are there unchanged.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.engine import Connection
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError, InputError, ModelError
from gsw_graph.load.loading import load
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.results import DocumentCounts, LoadReport, Progress
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from gsw_graph.config import Settings

_TRIES = 3  # times that the part of a worker that died is loaded again
_SECONDS = 1.0  # between two reports of progress


class Board:
    """Hold how far each part is. It runs in a process of its own, to which the workers report."""

    def __init__(self) -> None:
        self._parts: dict[str, Progress] = {}

    def report(self, part: str, progress: Progress) -> None:
        """Take the progress of a part."""
        self._parts[part] = progress

    def all(self) -> list[Progress]:
        """Return the progress of all parts that have begun."""
        return list(self._parts.values())


def load_part(settings: Settings, names: Sequence[str], options: LoadOptions, board: Any) -> LoadReport:
    """Load a part of the documents; this is what a worker runs."""

    def report(progress: Progress) -> None:
        board.report.remote(options.part, progress)

    with closing(connect(settings)) as connection:
        return load(
            connection, settings, lambda: Embedder.load(settings), list(names), options, progress=report
        )


def load_by_workers(
    connection: Connection,
    settings: Settings,
    names: Sequence[str],
    options: LoadOptions,
    address: str,
    progress: Callable[[Progress], None],
    workers: int | None = None,
) -> LoadReport:
    """Load files by workers, each into the same server.

    Args:
        connection: The memory.
        settings: The same memory and the models, as every worker opens them.
        names: Files, folders and globs that every worker can read under these names.
        options: Those of the load. A budget is divided among the parts.
        address: Of a Ray cluster; empty: Ray starts on this machine, and ends with the load.
        progress: Called every second.
        workers: How many parts there are; None: one for each processor of the cluster.

    Returns:
        The sum of the reports of all parts, with the time from begin to end as `total`.

    Raises:
        InputError: The memory is a folder, Ray is not installed, or there is something to load that a worker
            cannot read again.
        ModelError: Workers died again and again.
    """
    if "://" not in connection.url:
        hint = "Load into a Neo4j server: --memory bolt://HOST:7687"
        raise InputError("a memory in a folder has one writer", where=connection.url, hint=hint)
    if options.part is not None or options.batch or "-" in names:
        raise InputError("workers read their parts by themselves: no --part, no --batch, no standard input")
    start = perf_counter()
    files = [str(Path(name).absolute()) for name in names]
    before = Reader(connection).counts()[0]
    with _cluster(address) as ray:
        number = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        board = ray.remote(Board).options(num_cpus=0).remote()
        task = ray.remote(load_part).options(max_retries=_TRIES, num_cpus=1 if workers is None else 0)
        parts = []
        for place in range(1, number + 1):
            own = replace(options, part=f"{place}/{number}", near=0.0, budget=_share(options.budget, number))
            parts.append(task.remote(settings, files, own, board))
        waiting = list(parts)
        try:
            while waiting:
                done, waiting = ray.wait(waiting, timeout=_SECONDS)
                ray.get(done)  # a part that failed ends the load
                progress(_together(ray.get(board.all.remote())))
        finally:
            for part in waiting:
                ray.cancel(part)
        reports = ray.get(parts)
    after = Reader(connection).counts()[0]
    nodes = {label: count - before.get(label, 0) for label, count in after.items()}
    return _sum(reports, nodes, perf_counter() - start)


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield the module `ray`. What Ray raises becomes an error of ours."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if not address and "ray" not in sys.modules:  # Ray reads this when it is imported
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
        from ray.exceptions import RayError, RayTaskError
    except ImportError as error:
        raise InputError("workers need Ray", hint="pip install 'gswgraph[ray]'") from error
    try:
        if address:
            ray.init(address, log_to_driver=False)
        else:
            ray.init(include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"the Ray cluster cannot be reached ({error})", where=address) from error
    try:
        yield ray
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        hint = "Workers need the same gswgraph, the same files and enough memory; run it again to go on"
        raise ModelError(f"workers ended ({str(error).splitlines()[0]})", where=address, hint=hint) from error
    finally:
        ray.shutdown()


def _share(budget: str | None, parts: int) -> str | None:
    """Return the budget of one part.

    Raises:
        InputError: It would be nothing.
    """
    if budget is None:
        return None
    whole = Budget.parse(budget)
    share = whole.limit / parts
    if share < (0.01 if whole.unit == "$" else 1):
        raise InputError(f"a budget of {budget} is too small for {parts} parts", hint="Use fewer workers")
    return f"{share:f}" if whole.unit == "$" else f"{share:.0f}tok"


def _together(parts: Sequence[Progress]) -> Progress:
    """Return the progress of a load from that of its parts."""
    totals = [part.total for part in parts]
    total = None if None in totals else sum(filter(None, totals))
    answered = [part.answered for part in parts if part.answered is not None]
    problems = [part.problem for part in parts if part.problem]
    return Progress(
        documents=sum(part.documents for part in parts),
        passages=sum(part.passages for part in parts),
        total=total,
        stage="loading",
        failed=sum(part.failed for part in parts),
        problem=problems[-1] if problems else None,
        written=sum(part.written or 0 for part in parts),
        answered=sum(answered) if answered else None,
        replies=sum(part.replies for part in parts),
        failed_calls=sum(part.failed_calls for part in parts),
    )


def _sum(reports: Sequence[LoadReport], nodes: dict[str, int], seconds: float) -> LoadReport:
    """Return one report of all parts. Seconds of the stages are those of all workers together."""
    counts = {}
    for field in fields(DocumentCounts):
        counts[field.name] = sum(getattr(report.documents, field.name) for report in reports)
    prices = [report.dollars for report in reports if report.dollars is not None]
    notes = dict.fromkeys(report.note for report in reports if report.note)
    whole = LoadReport(
        DocumentCounts(**counts),
        nodes,
        [],
        {"total": seconds},
        calls=sum(report.calls for report in reports),
        failed_calls=sum(report.failed_calls for report in reports),
        cached=sum(report.cached for report in reports),
        dollars=sum(prices) if prices else None,
        note="; ".join(notes) or None,
    )
    for report in reports:
        for name in ("failures", "faults", "skipped", "ledger"):
            getattr(whole, name).extend(getattr(report, name))
        for stage in report.seconds.keys() - {"total"}:
            whole.seconds[stage] = whole.seconds.get(stage, 0.0) + report.seconds[stage]
        for kind, amount in report.tokens.items():
            whole.tokens[kind] += amount
        for kind, number in report.left_out.items():
            whole.left_out[kind] = whole.left_out.get(kind, 0) + number
    return whole
