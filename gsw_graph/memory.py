"""`Memory`: open, load, ask, forget, status. The one place where the parts meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace as changed
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO

from gsw_graph.config import Settings
from gsw_graph.engine.plain import plainly
from gsw_graph.errors import InputError
from gsw_graph.extract import EXTRACTORS
from gsw_graph.model import Failure, content_id
from gsw_graph.pipeline import Progress, Tally
from gsw_graph.results import Answer, Exported, Finding, Forgotten, LoadReport, Status, Table
from gsw_graph.retrieve import STRATEGIES

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from gsw_graph.engine import Connection
    from gsw_graph.inference.embedder import Embedder
    from gsw_graph.inference.reranker import Reranker
    from gsw_graph.retrieve.names import NameGraphs
    from gsw_graph.store.reader import Reader
    from gsw_graph.store.schema import MemoryState

__all__ = ["EXTRACTORS", "Memory", "Progress"]



class Memory:
    """A knowledge store: documents go in, questions come out answered. Open it with `Memory.open`, close it or use it in a `with` statement.

    Not for several threads at once; several processes share a Neo4j server, an embedded memory has one at a time.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection, self._settings = connection, settings
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._names: NameGraphs | None = None
        self._state: MemoryState | None = None

    @classmethod
    def open(cls, url: str | None = None, *, settings: Settings | None = None) -> Memory:
        """Open the memory at `url`, a folder or a `bolt://` or `neo4j://` url; default: `settings`, else the environment, else `./.gswgraph`.

        Raises EngineError where it cannot be reached, MemoryLockedError where another process has the folder open.
        """
        from gsw_graph.engine import connect

        settings = settings or Settings.from_env()
        if url is not None:
            settings = changed(settings, memory=str(url))
        return cls(connect(settings), settings)

    def close(self) -> None:
        """Close the connection; an embedded engine ends."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The embedder of the settings, loaded when it is first needed."""
        if self._embedder is None:
            from gsw_graph.inference.embedder import Embedder

            self._embedder = Embedder.load(self._settings)
        return self._embedder

    @property
    def reranker(self) -> Reranker | None:
        """The reranker of the settings, loaded when it is first needed; None for `cosine`, which the embedder's vectors serve."""
        if self._reranker is None:
            from gsw_graph.inference.reranker import load

            self._reranker = load(self._settings)
        return self._reranker

    @plainly
    def load(
        self,
        *paths: str,
        extractor: str = "rules",
        replace: bool = False,
        dry_run: bool = False,
        stdin: BinaryIO | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> LoadReport:
        """Load files, folders, globs or `-` (`stdin`). What is there unchanged is left alone unless `replace`; what changed is replaced.

        `dry_run` reads and compares, and writes nothing. Raises InputError where a path does not exist; what cannot be read is listed in the report.
        """
        from gsw_graph import loaders
        from gsw_graph.pipeline import Feed, embed_and_write
        from gsw_graph.store import schema
        from gsw_graph.store.reader import Reader
        from gsw_graph.store.writer import Writer

        start = perf_counter()
        if extractor not in EXTRACTORS:
            raise InputError(f"there is no extractor {extractor!r}", hint=f"Use one of {', '.join(EXTRACTORS)}")
        names = [str(path) for path in paths]
        items = loaders.read(names, stdin=stdin)
        reader, tally = Reader(self._connection), Tally()
        self._state = self._names = None
        state = schema.read_state(self._connection)
        if not dry_run:
            state = schema.prepare(self._connection, self.embedder.name, self.embedder.dimension)
        before = reader.counts()[0] if state else {}
        states = reader.document_states if state else lambda _: {}
        feed = Feed(items, states, extractor, tally, replace=replace, size=loaders.size(names))
        with feed as windows:
            if dry_run:
                tally.passages = sum(window.passages for window in windows)
                return LoadReport(tally.documents, {"Passage": tally.passages}, tally.failures, {**tally.seconds, "total": perf_counter() - start})
            writer = Writer(self._connection)
            with writer:
                embed_and_write(feed, windows, self.embedder, writer, tally, progress)
        tally.seconds["write"] = writer.seconds
        assert state is not None  # noqa: S101 - prepared above
        build = None
        if tally.new + tally.replaced + tally.unchanged and (not state.indexed or schema.missing_indexes(self._connection)):
            build = schema.build_search_indexes
        elif tally.new + tally.replaced and schema.outgrown(self._connection, state):
            build = schema.renew_vector_indexes
        if build is not None:
            if progress is not None:
                progress(Progress(tally.new + tally.replaced, tally.passages, tally.passages, "indexing"))
            index = perf_counter()
            build(self._connection, self.embedder.dimension)
            tally.seconds["index"] = perf_counter() - index
        after = reader.counts()[0]
        nodes = {label: after[label] - before.get(label, 0) for label in after}
        return LoadReport(tally.documents, nodes, tally.failures, {**tally.seconds, "total": perf_counter() - start})

    @plainly
    def ask(
        self,
        question: str,
        *,
        strategy: str = "auto",
        plan: object = None,
        k: int = 5,
        answer: bool = True,
        trace: bool = False,
    ) -> Answer:
        """The `k` passages that a strategy finds for a question, best first, and with `ricr` the chains that lead to an answer.

        `plan` in any form that `gsw_graph.plan.parse` reads; `auto` is `ricr` with one and `linked` without. `answer=False` gives the evidence only;
        `trace` adds the way to it. Raises InputError for an empty question, a strategy that does not exist or follows no plan, a plan that is none.
        """
        from gsw_graph.answer import from_chains
        from gsw_graph.plan import parse
        from gsw_graph.retrieve.strategies import STRATEGIES as RUN
        from gsw_graph.retrieve.strategies import Found, Search
        from gsw_graph.store.reader import Reader

        start = perf_counter()
        _check_question(question, strategy, plan, k)
        steps = None if plan is None else parse(plan)
        chosen = strategy if strategy != "auto" else "linked" if steps is None else "ricr"
        reader = Reader(self._connection)
        state = self._ready()
        search = Search(reader, self._encode, self._name_graphs(state), self._settings.linked_client_passages, steps)
        if chosen == "ricr":
            search.reranker = self.reranker
        found = RUN[chosen](search, question, k, trace=trace) if state else Found([])
        said = from_chains(question, found, answer=answer)
        return Answer(
            question=question,
            strategy=chosen,
            answer=said.answer,
            answer_source=said.source,
            abstained=said.abstained,
            confidence=said.confidence,
            citations=said.citations,
            passages=found.passages,
            chains=said.chains,
            plan=steps.to_list() if steps else None,
            round_trips=reader.round_trips,
            seconds={**search.seconds, "total": perf_counter() - start},
            tokens={"in": 0, "out": 0},
            models={
                "embedder": None if chosen == "bm25" else self._settings.embedder,
                "reranker": (search.reranker.name if search.reranker else "cosine") if chosen == "ricr" else None,
                "llm": None,
            },
            trace=found.trace,
        )

    @plainly
    def warm(self) -> None:
        """Load the embedder and read the caches, so that the first question is as fast as the next."""
        if self._ready():
            self.ask("warm up", strategy="linked", k=1)

    @plainly
    def forget(self, *sources: str, everything: bool = False) -> Forgotten:
        """Remove documents, by source or by a path whose documents are meant, with all that only they supported."""
        from gsw_graph.store.reader import Reader
        from gsw_graph.store.writer import forget

        reader = Reader(self._connection)
        self._names = None
        if not self._exists():
            return Forgotten([], list(sources))
        chosen, unknown = (reader.sources(), []) if everything else _resolve(reader, sources)
        with self._connection.driver.session(database=self._connection.database) as session:
            forget(session, list(chosen))
        return Forgotten(sorted(chosen.values()), unknown)

    @plainly
    def export(self, folder: str | Path) -> Exported:
        """Write the memory into a new or empty folder, in the shape that Panini's evaluation reads: see `gsw_graph.export`.

        Raises InputError where something is in the folder, or nothing in the memory.
        """
        from gsw_graph.export import export
        from gsw_graph.store.reader import Reader

        if not self._exists():
            raise InputError("there is nothing to export", where=self._connection.url, hint="Load something first: gswgraph load PATH")
        return export(Reader(self._connection), folder)

    @plainly
    def status(self) -> Status:
        """What the memory holds."""
        from gsw_graph.store import schema
        from gsw_graph.store.reader import Reader

        connection = self._connection
        state, reader = schema.read_state(connection), Reader(connection)
        nodes, relationships = reader.counts() if state else ({}, {})
        known = {name: getattr(state, name, None) for name in ("schema", "embedder", "dimension", "created", "version", "indexed")}
        unfinished = reader.unfinished() if state else []
        return Status(connection.url, connection.dialect.name, connection.dialect.version, nodes, relationships, unfinished, **known)

    @plainly
    def doctor(self, *, mend: bool = False) -> list[Finding]:
        """What is right and wrong with the memory, the models and the machine, each with the line that mends it.

        `mend` first recounts what is counted and removes what hangs loose.
        """
        from gsw_graph import doctor

        if mend and self._exists():
            doctor.mend(self._connection)
        return doctor.examine(self._connection, self._settings)

    @plainly
    def cypher(self, query: str, /, *, write: bool = False, **parameters: Any) -> Table:
        """Run a Cypher query. One that would change anything is refused with InputError unless `write`."""
        from gsw_graph.store.adhoc import run

        return run(self._connection, query, parameters, write=write)

    def _exists(self) -> bool:
        from gsw_graph.store import schema

        if self._state is None:
            self._state = schema.read_state(self._connection)
        return self._state is not None

    def _ready(self) -> MemoryState | None:
        """The state of a memory that can be asked, None of an empty one; indexes that an interrupted load left undone are made first."""
        from gsw_graph.store import schema

        if not self._exists() or self._state is None:
            return None
        schema.check(self._state, self._settings.embedder, self._state.dimension)
        if not self._state.indexed:
            self._state = schema.read_state(self._connection)
            if self._state is not None and not self._state.indexed:
                schema.build_search_indexes(self._connection, self._state.dimension)
        return self._state

    def _name_graphs(self, state: MemoryState | None) -> NameGraphs:
        from gsw_graph.retrieve.names import NameGraphs

        if self._names is None:
            folder = self._settings.cache_dir / "graphs" / content_id(self._connection.url, state.created) if state else None
            self._names = NameGraphs(self._connection, folder)
        return self._names

    def _encode(self, questions: Sequence[str]) -> NDArray[np.float32]:
        return self.embedder.encode_query(questions)


def _check_question(question: str, strategy: str, plan: object, k: int) -> None:
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}", hint=f"Use one of {', '.join(STRATEGIES)}")
    if plan is not None and strategy not in ("auto", "ricr"):
        raise InputError(f"{strategy} does not follow a plan", hint="Ask without one, or with --strategy ricr")
    if not question.strip():
        raise InputError("the question is empty")
    if k < 1:
        raise InputError(f"k is {k}", hint="Ask for at least one passage")


def _resolve(reader: Reader, names: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Stored documents by id and source that these names mean, and the names that mean none.

    A name is a source, the path of a loaded file or folder whether it still exists or not, or a corpus file whose records are meant.
    """
    from gsw_graph import loaders

    stored = reader.sources()
    chosen: dict[str, str] = {}
    unknown = []
    for name in names:
        path = Path(name).absolute().as_posix()
        meant = {i: source for i, source in stored.items() if source in (name, path) or source.startswith(f"{path}/")}
        if not meant and name != "-":
            with suppress(InputError):
                sources = {item.source for item in loaders.read([name]) if not isinstance(item, Failure)}
                meant = {i: source for i, source in stored.items() if source in sources}
        chosen |= meant
        if not meant:
            unknown.append(name)
    return chosen, unknown
