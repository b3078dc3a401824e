"""Hold an open memory: its connection, models, locks and state. `Memory` adds the operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock, RLock, Thread
from typing import TYPE_CHECKING

from gsw_graph.ask.options import AskOptions, limit_reader
from gsw_graph.concurrency import MemoryLocks, acquired, never_cancelled
from gsw_graph.config import Settings
from gsw_graph.engine.address import check_name
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError, ModelUnavailableError, WorkCancelledError
from gsw_graph.store import schema
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from typing_extensions import Self

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.concurrency import Check
    from gsw_graph.engine import Connection
    from gsw_graph.models.chat.chat import Chat, QuestionModel
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.models.rerank import Reranker
    from gsw_graph.store.schema import MemoryState

OnText = Callable[[str], None]  # gets pieces of an answer
OnStage = Callable[[str, str | None], None]  # gets what is being done, and a note


class OpenMemory:
    """Hold the parts of an open memory that all its methods need."""

    def __init__(self, connection: Connection, settings: Settings, embedder: Embedder | None = None) -> None:
        self._connection = connection
        self._settings = settings
        self._embedder = embedder
        self._reranker: Reranker | None = None
        self._chat: Chat | None = None
        self._locks = MemoryLocks()
        self._lazy = RLock()  # of what is made when it is first needed
        self._scopes: dict[tuple[int, str], dict[str, bool]] = {}
        self._building = Lock()  # of runs, in a question too
        self._state: MemoryState | None = None
        self._warming: Thread | None = None  # reads the index of an embedded engine for the first question
        if connection.dialect.name == "arcadedb":
            self._warming = Thread(target=self._warm, daemon=True)
        self._closed = False
        self._base: Self | None = None  # the memory of this database that was opened, of others

    def __repr__(self) -> str:
        dialect = self._connection.dialect
        state = "closed" if self._closed else f"{dialect.name} {dialect.version}"
        return f"<Memory {self._connection.url!r}, {state}>"

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
        models: Collection[str] = (),
        tracer: Callable[[str], object] | None = None,
    ) -> Self:
        """Open a memory.

        Args:
            url: A folder, or a `bolt://` or `neo4j://` url; by default the url of `settings`, else of the
                environment, else `./.gswgraph`.
            settings: The memory and its models; by default from the environment.
            create: Whether to make a missing folder, so that `load` can follow, or to raise EngineError.
            models: Models to load while an embedded engine starts: `embedder`, `llm`, `walk`.
            tracer: Gets each statement that runs, as text (`tracer=print`).

        Raises:
            EngineError: The memory cannot be reached or does not exist.
            MemoryLockedError: Another process has the folder open.
            InputError: `models` has an unknown name.
        """
        from gsw_graph.models.embed.embedder import EarlyModels

        settings = settings or Settings.from_env()
        if url is not None:
            settings = replace(settings, memory=str(url))
        early = EarlyModels(settings, models)
        connection = connect(settings, early.load if models else None, create=create)
        if tracer is not None:
            connection.trace(tracer)
        memory = cls(connection, settings, early.embedder)
        if tracer is not None:  # which would get a statement that answers nothing
            memory._warming = None
        return memory

    def close(self) -> None:
        """Close the connection; an embedded engine ends. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._warming is not None and self._warming.is_alive():
            self._warming.join()
        if self._base is None:
            self._close_chat()
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _warm(self) -> None:
        """Have the engine read its vector index, beside other readers."""
        with self._locks.read(never_cancelled):
            schema.warm_vectors(self._connection)

    @property
    def settings(self) -> Settings:
        """Return the settings: the memory and its models."""
        return self._settings

    @property
    def url(self) -> str:
        """Return the folder or url of the memory, without a password."""
        return self._connection.url

    @property
    def embedder(self) -> Embedder:
        """Return the embedder of the settings, loaded at its first use."""
        if self._base is not None:
            return self._base.embedder
        with self._lazy:
            if self._embedder is None:
                from gsw_graph.models.embed.embedder import Embedder

                self._embedder = Embedder.load(self._settings)
            return self._embedder

    @property
    def loaded_embedder(self) -> Embedder | None:
        """Return the embedder if it is loaded and runs on this machine, so that a few sentences more cost
        little."""
        loaded = self._embedder if self._base is None else self._base.loaded_embedder
        return None if loaded is None or loaded.backend == "server" else loaded

    @property
    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings, loaded at its first use; None for `cosine`, which uses the
        embedder's vectors."""
        if self._base is not None:
            return self._base.reranker
        with self._lazy:
            if self._reranker is None:
                from gsw_graph.models.rerank import load

                self._reranker = load(self._settings)
            return self._reranker

    @property
    def chat(self) -> Chat:
        """Return the language model of the settings, for questions. Raises InputError if they name none."""
        if self._base is not None:
            return self._base.chat
        with self._lazy:
            if self._chat is None:
                from gsw_graph.models.chat.chat import Chat

                self._chat = Chat.open_for_questions(self._settings)
            return self._chat

    @property
    def _reader(self) -> Reader:
        return Reader(self._connection)

    def named(self, name: str) -> Self:
        """Return another memory of this database by name; the default memory for an empty name.

        It shares the connection, which closes with this memory, the models and the locks: while one memory is
        written to, questions to the others wait as its own do. Raises InputError for a text that is no name.
        """
        if name:
            check_name(name)
        default = self._connection.default or self._connection
        connection = default.to_memory(name) if name else default
        memory = type(self)(connection, replace(self._settings, memory=connection.url))
        memory._base = self._base or self
        memory._warming = None
        memory._locks = self._locks
        memory._building = self._building
        return memory

    @contextmanager
    def _answering(self, chat: Chat | None) -> Iterator[None]:
        """Close the client of a language model that stopped: what stopped it may be over when the next
        question comes."""
        try:
            yield
        except WorkCancelledError:
            raise
        except ModelUnavailableError as error:
            if chat is None:  # others' questions may be asking the shared one
                raise
            self._close_chat(chat)
            raise ModelUnavailableError(
                error.message,
                where=error.where,
                hint=f"{error.hint or 'Ask again later'}. Or ask without a model: --no-llm",
            ) from error

    def _close_chat(self, chat: Chat | None = None) -> None:
        """Close the client of the language model, if it is this one; the next question makes another."""
        if self._base is not None:
            self._base._close_chat(chat)
            return
        with self._lazy:
            mine = self._chat
            if mine is None or chat not in (None, mine):
                return
            self._chat = None
        mine.close()

    @contextmanager
    def _changing(self, check: Check = never_cancelled) -> Iterator[None]:
        """Hold the writers' lock while the memory changes; its state is read again, then and after."""
        with self._locks.write(check):
            self._state = None
            try:
                yield
            finally:
                self._state = None

    def _stored_state(self) -> MemoryState | None:
        """Return the state of the memory, None if nothing was ever loaded."""
        state = self._state
        if state is None and (state := schema.read_state(self._connection)) is not None:
            schema.check_schema(state)
            self._state = state
        return state

    def _ready(self, check: Check = never_cancelled, *, may_build: bool = True) -> MemoryState | None:
        """Return the state of a memory for questions, None of an empty memory. Missing indexes of an
        interrupted load are made first if that is allowed; a load under way is waited for."""
        state = self._stored_state()
        if state is None:
            return None
        schema.check(state, self._settings.embedder_label, state.dimension)
        if not state.indexed and not may_build:
            self._state = None  # the next question looks again
            raise EngineError(
                "this memory has no search indexes yet, and nothing may be written here",
                where=self.url,
                hint="Make them: gswgraph doctor --mend, or the load again that was cut off",
            )
        if not state.indexed:
            with self._locks.write(check):
                state = schema.read_state(self._connection)
                if state is not None and not state.indexed:
                    with self._locks.exclusive():
                        schema.build_search_indexes(self._connection, state.dimension)
                    state = schema.read_state(self._connection)
                self._state = state
        return state

    def _context(
        self,
        options: AskOptions,
        llm: QuestionModel | None = None,
        on_text: OnText | None = None,
        on_stage: OnStage | None = None,
        check: Check = never_cancelled,
    ) -> RetrievalContext:
        """Return what a strategy works with for one question."""
        from gsw_graph.ask.codebook import complete
        from gsw_graph.ask.retrieve.context import RetrievalContext
        from gsw_graph.ask.retrieve.recipes import read_fit

        def complete_runs() -> None:
            with acquired(self._building, check):
                complete(
                    self._connection, reader, lambda: self.embedder, on_stage, may_build=options.build_runs
                )

        reader = self._reader
        if options.has_scope:
            limit_reader(reader, options, self._scopes)
        reader.exclude(options.excluded)
        return RetrievalContext(
            reader,
            self,
            complete_runs,
            options=options,
            fit=read_fit(self._settings.fit),
            llm=llm,
            on_text=on_text,
            on_stage=on_stage,
        )
