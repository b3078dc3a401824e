"""What changes a memory: load, forget, merge, correct, restore, mend. One change waits for another."""

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
    """The methods of `Memory` that change it, and those that show what was changed."""

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
        """Load files, folders, globs, `http(s)://` addresses or `-` (`stdin`), and `uploads`. What is there
        unchanged is left alone unless `replace`; what changed is replaced.

        Args:
            paths: Names of what is loaded; a list of names is as good.
            stdin: What `-` means.
            uploads: Open files by name; their source is `upload:NAME`.
            progress: Called with how far the load is.
            cancel: Ends the load from another thread; what was written stays.
            allow_private: Fetch addresses of this machine and of private networks too.
            options: Those of `LoadOptions`, such as `extractor="rules"` or `dry_run=True`.

        Raises:
            InputError: A path does not exist, or an option does not fit. What cannot be read is listed in
                the report.
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
            paths: Names of what is loaded, which all workers can read.
            address: Of the cluster; empty: Ray runs on this machine, and ends with the load.
            workers: How many load side by side; None: one for each processor of the cluster.
            progress: Called with how far the load is.
            options: Those of `LoadOptions`.

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
        """Add a turn of a conversation behind those of its session; the next question finds it.

        Args:
            text: What was said.
            speaker: Who said it.
            session: Names the conversation, a document whose source is `session:NAME`.
            at: When, a date or time, or as ISO writes these; now where it is not given.

        Returns:
            The id of its passage.

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
        """Remove documents with all that only they supported, and the questions whose answers cite them.

        Args:
            sources: Sources or paths; a folder is meant where its name ends in a slash.
            everything: Remove all documents, and all questions asked; of a named memory also its indexes.
            gone: The sources are folders: remove what is no longer in them.
            dry_run: Only return what would be removed.
            folder: Where paths begin, None where no source is a path.

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
        """Build the runs of passages that have none, which `pruned` searches. What is broken off goes on at
        the next call. progress: gets how many passages are done, of how many.

        Raises EngineError where another process removes what a run is made of.
        """
        from gsw_graph.ask.codebook import build

        if self._ready() is None:
            return results.RunsReport(0, 0, 0.0)
        with self._locks.write(), self._building:
            return build(self._connection, self._reader, lambda: self.embedder, progress or (lambda *_: None))

    @with_plain_errors
    def merge(self, *, dry_run: bool = False, near: float = 0.0, at_most: int = 0) -> results.Merged:
        """Join concepts that are the same thing, which `unmerge` takes back. dry_run: only return which.
        near: names whose vectors have this cosine are joined too; at_most: of these the nearest alone, until
        so many names are left."""
        from gsw_graph.load.merging import merge

        if not self._stored_state():
            return results.Merged(None, [])
        encode = self.embedder.encode if near else None
        with self._changing():
            return merge(self._connection, dry_run=dry_run, encode=encode, near=near, at_most=at_most)

    @with_plain_errors
    def merged(self, name: str = "") -> results.Merged:
        """Return what is merged: all groups, or the one of a name. Raises InputError for a name in none."""
        from gsw_graph.load.merging import merged

        return merged(self._connection, name)

    @with_plain_errors
    def unmerge(self, target: str) -> results.Unmerged:
        """Take merges back: of a group by any of its names, of a run by its id, or `all`. Raises InputError
        for any other."""
        from gsw_graph.load.merging import unmerge

        with self._changing():
            self._stored_state()
            return unmerge(self._connection, target)

    @with_plain_errors
    def correct(self, action: str, *values: str, by: str = "", folder: str | None = "") -> results.Correction:
        """Correct what the memory holds; later loads keep it, and `undo_correction` takes it back.

        Args:
            action: `rename` a name (to another), `split` it (a new name, and the sources where it means
                that), `remove` a fact (by its id, question or text), `supersede` a passage (its id, and that
                of the one that holds now) or `add` a statement, or a question and its answers.
            values: What the action needs, in this order.
            by: Who corrects it.
            folder: Where paths among the sources begin; None where a name is a source alone.

        Raises:
            InputError: What it names is not there, or not enough is given.
        """
        from gsw_graph.load import corrections

        if action in ("rename", "split") and values:
            contents.check_concepts(self._reader, [normalise(values[0])])
        with self._changing():
            return corrections.correct(self._connection, action, values, by, load=self.load, folder=folder)

    @with_plain_errors
    def corrections(self) -> list[results.Correction]:
        """Return what was corrected, in the order in which it was."""
        from gsw_graph.load import corrections

        return corrections.corrections(self._connection)

    @with_plain_errors
    def undo_correction(self, which: str) -> results.Correction:
        """Take a correction back, by its id. Raises InputError where there is none."""
        from gsw_graph.load import corrections

        with self._changing():
            return corrections.undo(self._connection, which)

    @with_plain_errors
    def dump(self, target: str | Path) -> results.Copied:
        """Write all that the memory holds into a new file, a node or a relationship a line of JSON. Raises
        InputError where the file exists, or the memory is empty. A load waits until it is done."""
        from gsw_graph.load import backup

        with self._locks.write():
            return backup.dump(self._connection, target)

    @with_plain_errors
    def restore(self, source: str | Path, *, progress: Callable[[int], None] | None = None) -> results.Copied:
        """Write the memory of a dump into this one, which must be empty. progress: gets the number of lines
        written. Raises InputError for another file, SchemaError where this is not empty."""
        from gsw_graph.load import backup

        with self._changing():
            return backup.restore(self._connection, source, progress or (lambda _: None))

    @with_plain_errors
    def doctor(self, *, mend: bool = False, deep: bool = False) -> list[results.Finding]:
        """Check the memory, the models and the machine; each finding has the line that repairs it.

        Args:
            mend: First make missing indexes, count again and delete orphaned nodes.
            deep: Also compare every text with the hash of what was loaded.
        """
        from gsw_graph.load import doctor

        if mend:
            with self._changing(), self._locks.exclusive():
                doctor.repair(self._connection)
        return doctor.examine(self._connection, self._settings, deep=deep)
