"""What the client holds of a memory between questions: names, propositions, the symbol codebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from gsw_graph.errors import InputError
from gsw_graph.turns import held

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.retrieve.names.cache import NameGraphs
    from gsw_graph.retrieve.propositions.cache import PropositionGraphs
    from gsw_graph.retrieve.pruned.codebook import Codebook, Codebooks
    from gsw_graph.turns import Check


class Held:
    """Each is read when a strategy first asks for it, in any thread, and kept in `folder`. embedder: called
    when it is first needed. building: locked while runs are built."""

    def __init__(
        self, connection: Connection, folder: Path, embedder: Callable[[], Embedder], building: Lock
    ) -> None:
        self._connection, self._folder, self._embedder = connection, folder, embedder
        self._building, self._making = building, Lock()
        self._names: NameGraphs | None = None
        self._propositions: PropositionGraphs | None = None
        self._codebooks: Codebooks | None = None

    @property
    def names(self) -> NameGraphs:
        """The graph of names, of any version."""
        from gsw_graph.retrieve.names.cache import NameGraphs

        with self._making:
            if self._names is None:
                self._names = NameGraphs(self._connection, self._folder)
            return self._names

    @property
    def propositions(self) -> PropositionGraphs:
        """The graph of propositions, of any version."""
        from gsw_graph.retrieve.propositions.cache import PropositionGraphs

        with self._making:
            if self._propositions is None:
                self._propositions = PropositionGraphs(
                    self._connection,
                    self._folder / "propositions",
                    lambda texts: self._embedder().encode(texts),
                )
            return self._propositions

    def codebook(
        self,
        version: int,
        on_stage: Callable[[str, str | None], None] | None,
        check: Check,
        *,
        build_runs: bool,
    ) -> Codebook:
        """The codebook of a version; runs that are missing are built first. on_stage: told how far. check: of
        the question that waits. InputError: some are missing, and `build_runs` is not set."""
        from gsw_graph.codebook.building import build
        from gsw_graph.retrieve.pruned.codebook import Codebooks
        from gsw_graph.store.codebook import without_runs
        from gsw_graph.store.reader import Reader

        def complete() -> None:
            if not build_runs:
                if missing := len(without_runs(Reader(self._connection))):
                    raise InputError(
                        f"`pruned` needs the runs of all passages, and {missing:,} have none yet",
                        hint="Build them: gswgraph runs build",
                    )
                return

            def told(done: int, passages: int) -> None:
                if on_stage is not None:
                    on_stage("database", f"runs built for {done:,} of {passages:,} passages")

            with held(self._building, check):
                build(self._connection, Reader(self._connection), self._embedder, told)

        with self._making:
            if self._codebooks is None:
                self._codebooks = Codebooks(self._connection, self._folder / "runs")
            codebooks = self._codebooks
        return codebooks.of(version, complete, check)
