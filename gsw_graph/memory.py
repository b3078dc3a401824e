"""`Memory`: open, load, ask, forget, status. The one place where the parts meet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace as changed
from functools import partial, wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, ParamSpec, TypeVar

from gsw_graph.config import Settings
from gsw_graph.errors import EngineError, InputError
from gsw_graph.model import Document, Workspace, content_id
from gsw_graph.pipeline import Progress, Tally
from gsw_graph.results import Answer, Citation, Finding, Forgotten, LoadReport, Status, Table
from gsw_graph.retrieve import STRATEGIES

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from gsw_graph.engine import Connection
    from gsw_graph.inference.embedder import Embedder
    from gsw_graph.retrieve.name_graph import NamedGraph
    from gsw_graph.store.schema import MemoryState

__all__ = ["EXTRACTORS", "Memory", "Progress"]

EXTRACTORS = ("rules", "none")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _plainly(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """What the driver raises becomes an EngineError that says where and what to do."""

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

        try:
            return method(*args, **kwargs)
        except ConstraintError as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            raise EngineError("another process wrote the same at the same time", where=where, hint="Run it again; what was written stays") from error
        except (DriverError, Neo4jError) as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            text = " ".join(str(getattr(error, "message", None) or error).split())[:300]
            raise EngineError(f"the engine failed ({text})", where=where, hint="Run it again; a load goes on where it stood") from error

    return call


class Memory:
    """A knowledge store: documents go in, questions come out answered. Open it with `Memory.open`, close it or use it in a `with` statement.

    Not for several threads at once; several processes share a Neo4j server, an embedded memory has one at a time.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection, self._settings = connection, settings
        self._embedder: Embedder | None = None
        self._embedder_lock = threading.Lock()
        self._names: tuple[int, NamedGraph] | None = None
        self._passages: int | None = None  # as last seen; chooses the form of the walk
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
        with self._embedder_lock:
            if self._embedder is None:
                from gsw_graph.inference.embedder import Embedder

                self._embedder = Embedder.load(self._settings)
            return self._embedder

    @_plainly
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
        items = loaders.read([str(path) for path in paths], stdin=stdin)
        reader, tally = Reader(self._connection), Tally()
        self._state = self._passages = None
        state = schema.read_state(self._connection)
        if not dry_run:
            state = schema.prepare(self._connection, self.embedder.name, self.embedder.dimension)
        before = reader.counts()[0] if state else {}
        states = reader.document_states if state else lambda _: {}
        feed = Feed(items, states, _rules if extractor == "rules" else partial(Workspace, extractor="none"), tally, replace=replace)
        with feed as windows:
            if dry_run:
                tally.passages = sum(window.passages for window in windows)
                return LoadReport(tally.documents, {"Passage": tally.passages}, tally.failures, {**tally.seconds, "total": perf_counter() - start})
            writer = Writer(self._connection)
            with writer:
                embed_and_write(feed, windows, self.embedder, writer, tally, progress)
        tally.seconds["write"] = writer.seconds
        assert state is not None  # noqa: S101 - prepared above
        if tally.new + tally.replaced + tally.unchanged and (not state.indexed or schema.missing_indexes(self._connection)):
            if progress is not None:
                progress(Progress(tally.new + tally.replaced, tally.passages, tally.passages, "indexing"))
            index = perf_counter()
            schema.build_search_indexes(self._connection, self.embedder.dimension)
            tally.seconds["index"] = perf_counter() - index
        after = reader.counts()[0]
        nodes = {label: after[label] - before.get(label, 0) for label in after}
        return LoadReport(tally.documents, nodes, tally.failures, {**tally.seconds, "total": perf_counter() - start})

    @_plainly
    def ask(
        self, question: str, *, strategy: str = "auto", plan: object = None, k: int = 5, answer: bool = True, trace: bool = False
    ) -> Answer:
        """The `k` passages that a strategy finds for a question, best first; `trace` adds the way to each.

        `answer=False` leaves the citations out. Raises InputError for an empty question, a strategy that does not exist, or a `plan`, which no strategy
        of this version follows.
        """
        from gsw_graph.retrieve.strategies import STRATEGIES as RUN
        from gsw_graph.retrieve.strategies import Found, Search
        from gsw_graph.store.reader import Reader

        start = perf_counter()
        _check_question(question, strategy, plan, k)
        reader = Reader(self._connection)
        search = Search(reader, self._embed_question, self._name_graph, self._size, self._settings.linked_client_passages)
        found = RUN[strategy](search, question, k, trace=trace) if self._ready() else Found([])
        return Answer(
            question=question,
            strategy="linked" if strategy == "auto" else strategy,
            answer=None,
            answer_source="none",
            abstained=not found.passages,
            confidence=None,
            citations=[Citation(p.id, p.document, p.title, p.source, p.text) for p in found.passages] if answer else [],
            passages=found.passages,
            chains=[],
            plan=None,
            round_trips=reader.round_trips,
            seconds={**search.seconds, "total": perf_counter() - start},
            tokens={"in": 0, "out": 0},
            models={"embedder": None if strategy == "bm25" else self._settings.embedder, "reranker": None, "llm": None},
            trace=found.trace,
        )

    def warm(self) -> None:
        """Load the embedder and read the caches, so that the first question is as fast as the next."""
        if self._ready():
            self.ask("warm up", strategy="linked", k=1)

    @_plainly
    def forget(self, *sources: str, everything: bool = False) -> Forgotten:
        """Remove documents, by source or by a path whose documents are meant, with all that only they supported."""
        from gsw_graph.store.reader import Reader
        from gsw_graph.store.writer import forget

        reader = Reader(self._connection)
        self._passages = None
        if not self._exists():
            return Forgotten([], list(sources))
        chosen, unknown = (reader.sources(), []) if everything else _resolve(reader, sources)
        with self._connection.driver.session(database=self._connection.database) as session:
            forget(session, list(chosen))
        return Forgotten(sorted(chosen.values()), unknown)

    @_plainly
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

    @_plainly
    def doctor(self) -> list[Finding]:
        """What is right and wrong with the memory, the models and the machine, each with the line that mends it."""
        from gsw_graph.doctor import examine

        return examine(self._connection, self._settings)

    def cypher(self, query: str, /, *, write: bool = False, **parameters: Any) -> Table:
        """Run a Cypher query. One that would change anything is refused with InputError unless `write`."""
        from gsw_graph.store.adhoc import run

        return run(self._connection, query, parameters, write=write)

    def _exists(self) -> bool:
        from gsw_graph.store import schema

        if self._state is None:
            self._state = schema.read_state(self._connection)
        return self._state is not None

    def _ready(self) -> bool:
        """Whether there is something to ask; indexes that an interrupted load left undone are made first."""
        from gsw_graph.store import schema

        if not self._exists() or self._state is None:
            return False
        schema.check(self._state, self._settings.embedder, self._state.dimension)
        if not self._state.indexed:
            self._state = schema.read_state(self._connection)
            if self._state is not None and not self._state.indexed:
                schema.build_search_indexes(self._connection, self._state.dimension)
        return True

    def _embed_question(self, question: str) -> list[float]:
        vector: list[float] = self.embedder.encode_query([question])[0].tolist()
        return vector

    def _size(self) -> int:
        from gsw_graph.store.reader import Reader

        if self._passages is None:
            self._passages = Reader(self._connection).size()[1]
        return self._passages

    def _name_graph(self, version: int) -> NamedGraph:
        """The names of a version of the memory: from this process, from disk, or read from the graph."""
        from gsw_graph.retrieve import graph_cache, name_graph
        from gsw_graph.store.reader import Reader

        if self._names is not None and self._names[0] == version:
            return self._names[1]
        assert self._state is not None  # noqa: S101 - a version was read from it
        folder = self._settings.cache_dir / "graphs" / content_id(self._connection.url, self._state.created)
        graph = graph_cache.load(folder, version)
        if graph is None:
            reader = Reader(self._connection)
            for _ in range(3):  # read again where somebody wrote meanwhile
                graph = name_graph.build(reader.name_graph())
                now = reader.size()[0]
                if now == version:
                    graph_cache.save(graph, folder, version)
                    break
                version = now
        assert graph is not None  # noqa: S101 - found or built
        self._names, self._passages = (version, graph), graph.graph.size
        return graph


def _rules(document: Document) -> Workspace:
    from gsw_graph.extract import rules

    return rules.extract(document)


def _check_question(question: str, strategy: str, plan: object, k: int) -> None:
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}", hint=f"Use one of {', '.join(STRATEGIES)}")
    if plan is not None:
        raise InputError(f"{strategy} does not follow a plan", hint="Ask without one")
    if not question.strip():
        raise InputError("the question is empty")
    if k < 1:
        raise InputError(f"k is {k}", hint="Ask for at least one passage")


def _resolve(reader: Any, names: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Stored documents by id and source that these names mean: a source, or a path whose documents are meant; and the names that mean none."""
    from gsw_graph import loaders

    chosen: dict[str, str] = {}
    unknown = []
    for name in names:
        sources = [name]
        if content_id("document", name) not in reader.document_states([content_id("document", name)]):
            try:
                sources = [item.source for item in loaders.read([name]) if isinstance(item, Document)]
            except InputError:
                sources = []
        ids = {content_id("document", source): source for source in sources}
        stored = reader.document_states(list(ids)) if ids else {}
        chosen |= {i: ids[i] for i in stored}
        if not stored:
            unknown.append(name)
    return chosen, unknown
