"""Change a memory: load, forget, merge, correct, restore, mend. Changes run one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gsw_graph.concurrency import check_of
from gsw_graph.engine import with_plain_errors
from gsw_graph.explore import contents
from gsw_graph.load.options import LoadOptions
from gsw_graph.memory.opened import OpenMemory
from gsw_graph.model import results
from gsw_graph.model.results import Progress
from gsw_graph.store import schema
from gsw_graph.telemetry import annotate, span
from gsw_graph.text.names import normalise
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from gsw_graph.concurrency import Cancel

OnProgress = Callable[[Progress], None]


class WritableMemory(OpenMemory):
    """Add the methods of `Memory` that change it, and the methods that list changes."""

    @with_plain_errors
    def load(
        self,
        *paths: str | Path | Sequence[str | Path],
        stdin: BinaryIO | None = None,
        uploads: Mapping[str, BinaryIO] | None = None,
        progress: OnProgress | None = None,
        cancel: Cancel | None = None,
        allow_private: bool = False,
        **options: Any,
    ) -> results.LoadReport:
        """Load files, folders, globs, `http(s)://` addresses or `-` (`stdin`), and `uploads`. Unchanged
        documents are skipped unless `replace` is set; changed documents are replaced.

        Args:
            paths: Names of files, folders and so on, or a list of names.
            stdin: The stream that `-` reads.
            uploads: Open files by name; their source is `upload:NAME`.
            progress: Called with the progress of the load.
            cancel: Ends the load from another thread; written documents stay.
            allow_private: Whether to fetch addresses of this machine and of private networks too.
            options: Fields of `LoadOptions`, such as `extractor="rules"` or `dry_run=True`.

        Raises:
            InputError: A path does not exist, or an option does not fit. A file that cannot be read is listed
                in the report instead.
        """
        from gsw_graph.load.addresses import fetched
        from gsw_graph.load.loading import load
        from gsw_graph.loaders.address import is_address

        check = check_of(cancel)
        names: list[str] = []
        for path in paths:
            names += [str(path)] if isinstance(path, str | Path) else map(str, path)

        def report(now: Progress) -> None:
            check()
            if progress is not None:
                progress(now)

        how = LoadOptions(**options)
        addresses = [name for name in names if is_address(name)]
        show = partial(contents.show, self._reader)
        pages = fetched(addresses, show, how, allow_private=allow_private, check=check)
        with self._changing(check):
            check()  # a short load would be written before its first report
            with span("load", extractor=how.extractor, memory=self.url) as current:
                loaded = load(
                    self._connection,
                    self._settings,
                    lambda: self.embedder,
                    [name for name in names if name not in addresses],
                    how,
                    stdin=stdin,
                    uploads={**(uploads or {}), **pages.pages},
                    progress=report,
                    exclusive_lock=self._locks.exclusive,
                )
                loaded = pages.added_to(loaded)
                facts: Fields = {"calls": loaded.calls, "dollars": loaded.dollars}
                for name, number in asdict(loaded.documents).items():
                    facts[f"documents_{name}"] = number
                for stage, seconds in loaded.seconds.items():
                    facts[f"seconds_{stage}"] = seconds
                annotate(current, **facts)
        if how.near and not how.dry_run:
            self.merge(near=how.near)
        return loaded

    @with_plain_errors
    def load_by_workers(
        self,
        *paths: str | Path,
        address: str = "",
        workers: int | None = None,
        progress: OnProgress | None = None,
        **options: Any,
    ) -> results.LoadReport:
        """Load files, folders and globs as `load` does, by the workers of a Ray cluster.

        Args:
            paths: Names of files, folders and globs that all workers can read.
            address: Address of the cluster. If it is empty, Ray runs on this machine, and ends with the load.
            workers: Number of workers; None for one on each processor of the cluster.
            progress: Called with the progress of the load.
            options: Fields of `LoadOptions`.

        Raises:
            InputError: The memory is a folder, Ray is not installed, or an option does not fit.
            ModelError: Workers died again and again.
        """
        from gsw_graph.load.workers import load_by_workers

        how = LoadOptions(**options)
        report = progress or (lambda _: None)
        with self._changing():
            loaded = load_by_workers(
                self._connection, self._settings, list(map(str, paths)), how, address, report, workers
            )
        if how.near:
            self.merge(near=how.near)
        return loaded

    @with_plain_errors
    def add(
        self, text: str, *, speaker: str = "", session: str = "conversation", at: str | date | None = None
    ) -> str:
        """Add a turn at the end of a conversation. The next question finds the turn.

        Args:
            text: Text of the turn.
            speaker: Name of the speaker.
            session: Name of the conversation, a document whose source is `session:NAME`.
            at: Date or time of the turn, or its ISO form; by default now.

        Returns:
            The id of the passage of the turn.

        Raises:
            InputError: There is no text or no session, or `at` is no date.
        """
        from gsw_graph.load.conversations import add

        with self._changing():
            return add(self._connection, self.embedder, text, speaker=speaker, session=session, at=at)

    @with_plain_errors
    def forget(
        self,
        *sources: str,
        everything: bool = False,
        gone: bool = False,
        dry_run: bool = False,
        folder: str | Path | None = "",
    ) -> results.Forgotten:
        """Remove documents with everything that only they support, and the questions whose answers cite them.

        Args:
            sources: Sources or paths; a name that ends in a slash is a folder.
            everything: Remove all documents, and all questions asked; of a named memory also its indexes.
            gone: Whether the sources are folders, of which to remove the documents that are no longer in
                them.
            dry_run: Whether to remove nothing, and only report.
            folder: Base folder of paths; None if no source is a path.

        Raises:
            InputError: A name is empty, or a folder cannot be read.
        """
        from gsw_graph.load.forgetting import forget

        with self._changing():
            if self._stored_state() is None:
                return results.Forgotten([], list(sources))
            forgotten = forget(
                self._connection,
                sources,
                everything=everything,
                gone=gone,
                dry_run=dry_run,
                folder=folder,
            )
            if everything and not dry_run and self._connection.memory:
                schema.remove(self._connection)
            return forgotten

    @with_plain_errors
    def build_runs(self, *, progress: Callable[[int, int], None] | None = None) -> results.RunsReport:
        """Build the missing runs of passages, which `pruned` searches. After an interruption, the next call
        goes on. progress: Gets the numbers of finished and of all passages.

        Raises EngineError if another process removes a part of a run.
        """
        from gsw_graph.ask.codebook import build

        if self._ready() is None:
            return results.RunsReport(0, 0, 0.0)
        with self._locks.write(), self._building:
            return build(self._connection, self._reader, lambda: self.embedder, progress or (lambda *_: None))

    @with_plain_errors
    def merge(self, *, dry_run: bool = False, near: float = 0.0, at_most: int = 0) -> results.Merged:
        """Join concepts that are the same thing; `unmerge` takes this back. dry_run: Whether only to report.
        near: Least cosine of vectors of names that are joined too. at_most: Of these, only the nearest are
        joined, until so many names are left."""
        from gsw_graph.load.merging import merge

        if not self._stored_state():
            return results.Merged(None, [])
        encode = self.embedder.encode if near else None
        with self._changing():
            return merge(self._connection, dry_run=dry_run, encode=encode, near=near, at_most=at_most)

    @with_plain_errors
    def merged(self, name: str = "") -> results.Merged:
        """Return all groups of merged names, or the group of a name. Raises InputError for a name in no
        group."""
        from gsw_graph.load.merging import merged

        return merged(self._connection, name)

    @with_plain_errors
    def unmerge(self, target: str) -> results.Unmerged:
        """Take merges back: of a group by any of its names, of a run by its id, or `all`. Raises InputError
        for an unknown name or id."""
        from gsw_graph.load.merging import unmerge

        with self._changing():
            self._stored_state()
            return unmerge(self._connection, target)

    @with_plain_errors
    def correct(self, action: str, *values: str, by: str = "", folder: str | None = "") -> results.Correction:
        """Correct the content of the memory. Later loads keep the correction; `undo_correction` takes it
        back.

        Args:
            action: `rename` a name (to another), `split` a name (a new name, and the sources in which the new
                name is meant), `remove` a fact (by its id, question or text), `supersede` a passage (its id,
                and the id of the passage that holds now) or `add` a statement, or a question and its answers.
            values: The values of the action, in the order above.
            by: Name of the person who corrects.
            folder: Base folder of paths among the sources; None if no name is a path.

        Raises:
            InputError: A name, fact or passage does not exist, or values are missing.
        """
        from gsw_graph.load import corrections

        if action in ("rename", "split") and values:
            contents.check_concepts(self._reader, [normalise(values[0])])
        with self._changing():
            return corrections.correct(self._connection, action, values, by, load=self.load, folder=folder)

    @with_plain_errors
    def corrections(self) -> list[results.Correction]:
        """Return all corrections, in the order in which they were made."""
        from gsw_graph.load import corrections

        return corrections.corrections(self._connection)

    @with_plain_errors
    def undo_correction(self, which: str) -> results.Correction:
        """Take a correction back by its id. Raises InputError for an unknown id."""
        from gsw_graph.load import corrections

        with self._changing():
            return corrections.undo(self._connection, which)

    @with_plain_errors
    def dump(self, target: str | Path) -> results.Copied:
        """Write the whole memory into a new file, a node or a relationship a line of JSON. Loads wait
        meanwhile. Raises InputError if the file exists or the memory is empty."""
        from gsw_graph.load import backup

        with self._locks.write():
            return backup.dump(self._connection, target)

    @with_plain_errors
    def restore(self, source: str | Path, *, progress: Callable[[int], None] | None = None) -> results.Copied:
        """Write the memory of a dump into this memory, which must be empty. progress: Gets the number of
        lines written. Raises InputError if the file is no dump, SchemaError if this memory is not empty."""
        from gsw_graph.load import backup

        with self._changing():
            return backup.restore(self._connection, source, progress or (lambda _: None))

    @with_plain_errors
    def doctor(self, *, mend: bool = False, deep: bool = False) -> list[results.Finding]:
        """Check the memory, the models and the machine; each finding has the line that repairs it.

        Args:
            mend: Whether first to make missing indexes, count again and delete orphaned nodes.
            deep: Whether to compare every text with the hash of the loaded text.
        """
        from gsw_graph.load import doctor

        if mend:
            with self._changing(), self._locks.exclusive():
                doctor.repair(self._connection)
        return doctor.examine(self._connection, self._settings, deep=deep)
