"""`Memory`: open, load, ask, forget, status. The one place where the parts meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, ParamSpec, TypeVar

from gsw_graph.ask.options import AskOptions, limit_reader
from gsw_graph.concurrency import MemoryLocks, acquired, never_cancelled
from gsw_graph.config import Settings
from gsw_graph.cypher import of_memory
from gsw_graph.engine import check_name, connect, with_plain_errors
from gsw_graph.errors import EndedError, EngineError, InputError, StoppedError
from gsw_graph.explore import (
    contents,
    notebook,  # noqa: F401 - registers how results are shown
)
from gsw_graph.explore.picture import picture
from gsw_graph.extract import EXTRACTORS
from gsw_graph.load.options import LoadOptions
from gsw_graph.model import results
from gsw_graph.model.results import Progress
from gsw_graph.store import adhoc, questions, schema
from gsw_graph.store.reader import Reader
from gsw_graph.telemetry import annotate, span
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from typing_extensions import Self

    from gsw_graph.ask.conversation import Conversation
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.concurrency import Cancel, Check
    from gsw_graph.engine import Connection
    from gsw_graph.models.chat.chat import Chat, QuestionModel
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.models.rerank import Reranker
    from gsw_graph.store.questions import Verdict
    from gsw_graph.store.schema import MemoryState

P = ParamSpec("P")
T = TypeVar("T")
OnText = Callable[[str], None]  # gets pieces of an answer
OnStage = Callable[[str, str | None], None]  # gets what is being done, and a note
OnProgress = Callable[[Progress], None]

__all__ = ["EXTRACTORS", "Memory", "Progress"]


def _reading(function: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[Memory, P], T]:
    """Return the method of `Memory` that calls a function with its reader."""

    @wraps(function)
    def method(memory: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(memory._reader, *args, **kwargs)

    return with_plain_errors(method)


class Memory:
    """A knowledge store: documents go in, questions come out answered. Open it with `Memory.open`, close it
    or use it in a `with` statement.

    Safe for many threads: questions run side by side, loads and all else that writes one after another, and
    a question waits while an index is built. `close` is for when they are done. Several processes share a
    Neo4j server, an embedded memory has one at a time, which `gswgraph serve` shares. Once it is closed every
    method raises EngineError.
    """

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
        self._cold = connection.dialect.name == "arcadedb"  # no question was asked yet
        self._closed = False
        self._base: Memory | None = None  # the memory of this database that was opened, of others

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
    ) -> Memory:
        """Open a memory.

        Args:
            url: A folder, or a `bolt://` or `neo4j://` url; default: that of `settings`, else of the
                environment, else `./.gswgraph`.
            settings: Where the memory is and which models serve it; default: those of the environment.
            create: Make a folder where there is no memory, so that `load` can follow; False: raise.
            models: What is loaded while an embedded engine starts: `embedder`, `llm`, `walk`.
            tracer: Gets each statement that runs, as a text for people (`tracer=print`).

        Raises:
            EngineError: It cannot be reached or does not exist.
            MemoryLockedError: Another process has the folder open.
            InputError: There is another name in `models`.
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
        memory._cold &= tracer is None  # which would get a statement that answers nothing
        return memory

    def close(self) -> None:
        """Close the connection; an embedded engine ends. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._base is None:
            self._close_chat()
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """Where the memory is and which models serve it."""
        return self._settings

    @property
    def url(self) -> str:
        """Where the memory is, for people: a folder or a url, never a password."""
        return self._connection.url

    @property
    def embedder(self) -> Embedder:
        """The embedder of the settings, loaded when it is first needed."""
        if self._base is not None:
            return self._base.embedder
        with self._lazy:
            if self._embedder is None:
                from gsw_graph.models.embed.embedder import Embedder

                self._embedder = Embedder.load(self._settings)
            return self._embedder

    @property
    def loaded_embedder(self) -> Embedder | None:
        """The embedder if it is loaded and runs on this machine: a few sentences more cost little."""
        loaded = self._embedder if self._base is None else self._base.loaded_embedder
        return None if loaded is None or loaded.backend == "server" else loaded

    @property
    def reranker(self) -> Reranker | None:
        """The reranker of the settings, loaded when it is first needed; None for `cosine`, which the
        embedder's vectors serve."""
        if self._base is not None:
            return self._base.reranker
        with self._lazy:
            if self._reranker is None:
                from gsw_graph.models.rerank import load

                self._reranker = load(self._settings)
            return self._reranker

    @property
    def chat(self) -> Chat:
        """The language model of the settings, for questions. Raises InputError where they name none."""
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

        check = cancel.check if cancel else never_cancelled
        names: list[str] = []
        for path in paths:
            names += [str(path)] if isinstance(path, str | Path) else map(str, path)

        def report(now: Progress) -> None:
            check()
            if progress is not None:
                progress(now)

        how = LoadOptions(**options)
        addresses = [name for name in names if is_address(name)]
        pages = fetched(addresses, self.show, how, allow_private=allow_private, check=check)
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
                    alone=self._locks.exclusive,
                )
                loaded = pages.added_to(loaded)
                facts: dict[str, Any] = {"calls": loaded.calls, "dollars": loaded.dollars}
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
    def ask(
        self,
        question: str,
        *,
        on_text: OnText | None = None,
        on_stage: OnStage | None = None,
        cancel: Cancel | None = None,
        **options: Any,
    ) -> results.Answer:
        """Return the passages that a strategy finds for a question, best first, with a plan the chains that
        lead to an answer, and the answer.

        Where the settings name a language model it plans and answers. `auto` is `fusion` with a plan, or
        where there are pairs to follow, else `linked`. The question is stored in the memory with what its
        answer used.

        Args:
            question: In whole words.
            on_text: Called with pieces of the language model's answer as they come.
            on_stage: Called with what is being done, a key of the answer's `seconds`, and None or, where the
                model is asked again or given up, why.
            cancel: Ends the question from another thread, with EndedError.
            options: Those of `AskOptions`, such as `strategy="linked"`, `plan=[...]`, `k=10` or
                `answer=False`. A strategy may be a `Strategy` of your own.

        Raises:
            InputError: The question is empty, or an option does not fit.
        """
        if self._cold and not self._closed:  # the engine reads its index while we import and embed
            self._cold = False
            Thread(target=schema.warm_vectors, args=(self._connection,), daemon=True).start()
        from gsw_graph.ask.asking import ask, empty_answer, prepared
        from gsw_graph.models.chat.chat import QuestionModel
        from gsw_graph.models.chat.limits import QuestionBudget

        ask_options = AskOptions(**options)
        strategy, planned = prepared(question, ask_options)
        limit = None if ask_options.budget is None else QuestionBudget.parse(ask_options.budget)
        check = cancel.check if cancel else never_cancelled
        state = self._ready(check, may_build=ask_options.build_runs)
        with self._locks.read(check):
            chat = self.chat if ask_options.llm and self._settings.for_role("answer").llm else None
            model = QuestionModel(chat, limit, check) if chat is not None else None
            if state is None:
                return empty_answer(strategy, planned, model)

            def staged(stage: str, text: str | None) -> None:
                check()
                if on_stage is not None:
                    on_stage(stage, text)

            with self._answering(chat):
                context = self._context(ask_options, model, on_text, staged, check)
                if model is not None:
                    model.on_trouble = context.note
                with span("ask", strategy=strategy.name, k=ask_options.k, memory=self.url) as current:
                    answer = ask(strategy, planned, context)
                    annotate(
                        current,
                        ran=answer.strategy,
                        passages=len(answer.passages),
                        chains=len(answer.chains),
                        abstained=answer.abstained,
                        confidence=answer.confidence,
                        round_trips=answer.round_trips,
                        tokens_in=answer.tokens["in"],
                        tokens_out=answer.tokens["out"],
                        dollars=answer.dollars,
                        model=answer.models.get("llm"),
                    )
            if not ask_options.keep:
                return answer
            # An answer with citations may be used again; no model is loaded for that alone.
            # An overview is no answer to another question, and changes with every document.
            vector = None
            is_usable = bool(answer.citations) and answer.strategy != "overview"
            if answer.answer is not None and is_usable and "embedder" in context.used:
                vector = context.vector(answer.question).tolist()
            limited = not ask_options.sees_all
            return replace(answer, id=questions.keep(self._connection, answer, vector, limited=limited))

    def conversation(self) -> Conversation:
        """Return a new conversation: a question may depend on the last ones ("and when did she die?")."""
        from gsw_graph.ask.conversation import Conversation

        return Conversation(self.ask)

    def confirm(self, which: int | str) -> results.AskedQuestion:
        """Record that an answer is right, so that it may be given again as it is. which: as of `question`.
        Raises InputError where there is no such question, or it was not answered."""
        return self._judge(which, "confirmed")

    def reject(self, which: int | str) -> results.AskedQuestion:
        """Record that an answer is wrong, so that nothing of it is used again; else as `confirm`."""
        return self._judge(which, "rejected")

    @with_plain_errors
    def _judge(self, which: int | str, verdict: Verdict) -> results.AskedQuestion:
        self._stored_state()
        question = contents.question(self._reader, which)
        if question.answer is None:
            raise InputError("this question was not answered", where=question.question[:200])
        questions.judge(self._connection, question.id, verdict)
        return contents.question(self._reader, question.id)

    @with_plain_errors
    def warm(self, *, cancel: Cancel | None = None) -> None:
        """Load the embedder and read the caches, so that the first question is as fast as the next."""
        if self._ready(cancel.check if cancel else never_cancelled):
            self.ask("warm up", strategy="linked", k=1, llm=False, keep=False, cancel=cancel)

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
        from gsw_graph.load import moving

        with self._locks.write():
            return moving.dump(self._connection, target)

    @with_plain_errors
    def restore(self, source: str | Path, *, progress: Callable[[int], None] | None = None) -> results.Copied:
        """Write the memory of a dump into this one, which must be empty. progress: gets the number of lines
        written. Raises InputError for another file, SchemaError where this is not empty."""
        from gsw_graph.load import moving

        with self._changing():
            return moving.restore(self._connection, source, progress or (lambda _: None))

    def named(self, name: str) -> Memory:
        """Return another memory of this database, by its name; the default one where that is empty.

        It shares the connection, which closes with this memory, the models, and the locks: what one of them
        writes or builds, questions to the others wait for. Raises InputError for what is no name.
        """
        if name:
            check_name(name)
        default = self._connection.default or self._connection
        connection = default.to_memory(name) if name else default
        memory = Memory(connection, replace(self._settings, memory=connection.url))
        memory._base = self._base or self
        memory._locks = self._locks
        memory._building = self._building
        return memory

    @with_plain_errors
    def exists(self) -> bool:
        """Tell whether anything was ever loaded into this memory."""
        return schema.read_state(self._connection) is not None

    @with_plain_errors
    def memories(self) -> list[results.StoredMemory]:
        """Return the memories of this database, by name: those opened with `?memory=NAME`, and the default
        one, whose name is empty."""
        return schema.memories(self._connection)

    @with_plain_errors
    def status(self) -> results.Status:
        """Return what the memory holds."""
        return schema.status(self._connection)

    @with_plain_errors
    def browser(self, question: str | None = None) -> str:
        """Return the address that opens Neo4j Browser at this memory with a query in its editor: one that
        draws what the answer to a stored question is based on (by its id, or the beginning), else one that
        draws the names that bring most documents together.

        Raises EngineError for a memory in a folder, which has no Browser, InputError where there is no such
        question.
        """
        from gsw_graph.explore import browser

        place = browser.find(self._settings)
        query = browser.overview()
        if question:
            query = browser.drawing(contents.question(self._reader, question).id)
        return place.link(of_memory(query, self._connection.memory))

    documents = _reading(contents.documents)
    show = _reading(contents.show)
    names = _reading(contents.names)
    name = _reading(contents.name)
    history = _reading(contents.history)
    question = _reading(contents.question)

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

    @with_plain_errors
    def draw(
        self,
        source: results.Answer | str,
        /,
        *,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        **parameters: Any,
    ) -> picture.Picture:
        """Return the picture of an answer, or of what a Cypher query returns: nodes, relationships, paths.

        `save` of it writes one HTML file that needs no network; a notebook shows it. An answer asked with
        `trace=True` shows how its passages were found. Raises InputError as `cypher` does, and where there is
        nothing to draw.
        """
        from gsw_graph.explore.picture.drawing import of_answer, of_records

        reader = self._reader
        if isinstance(source, results.Answer):
            return of_answer(source, lambda ids: reader.passages(ids, [0.0] * len(ids)))
        check = cancel.check if cancel else never_cancelled
        graph = adhoc.drawn(
            self._connection, source, parameters, most=picture.NODES, timeout=timeout, check=check
        )
        return of_records(source, graph, adhoc.passages_behind(reader, graph.nodes))

    @with_plain_errors
    def cypher(
        self,
        query: str,
        /,
        *,
        write: bool = False,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        **parameters: Any,
    ) -> results.Table:
        """Run a Cypher query.

        Args:
            query: One that would change anything is refused with InputError unless `write`.
            write: Let it change the memory.
            timeout: Seconds after which the engine ends it, with InputError; so do Ctrl-C and `cancel`.
            cancel: Ends it from another thread.
            parameters: Values of the query.
        """
        check = cancel.check if cancel else never_cancelled
        with self._changing(check) if write else nullcontext():
            return adhoc.run(self._connection, query, parameters, write=write, timeout=timeout, check=check)

    @with_plain_errors
    def ask_cypher(
        self, question: str, *, timeout: float | None = 60.0, cancel: Cancel | None = None
    ) -> results.AskedTable:
        """Have the language model of the settings write a Cypher query for a question, and run it.

        The model sees the schema, the keys of metadata and the names of the question, and no document. It is
        told once if its query cannot be run; at most 100 rows are returned.

        Args:
            question: What is counted or listed: "how many documents mention Ottilie Grau, by year?"
            timeout: Seconds after which the engine ends a query.
            cancel: Ends it from another thread.

        Raises:
            InputError: The question is empty, the settings name no model, or no query answers it.
            ReplyError: No query of the model could be run.
        """
        from gsw_graph.ask.text_to_cypher import query_by_question
        from gsw_graph.models.chat.chat import QuestionModel

        if not question.strip():
            raise InputError("the question is empty")
        check = cancel.check if cancel else never_cancelled
        chat = self.chat
        model = QuestionModel(chat, None, check)
        with self._locks.read(check), self._answering(chat):
            table = query_by_question(question, self._reader, model, timeout=timeout, check=check)
        if table is None:
            raise InputError(
                f"{model.model} says that no query over the graph answers this",
                hint="gswgraph ask reads sentences",
            )
        return table

    @with_plain_errors
    def explore(
        self, name: str, /, *, timeout: float | None = None, cancel: Cancel | None = None, **parameters: Any
    ) -> results.Table:
        """Run an analysis by its name, with its defaults for what is not given: `memory.explore("timeline",
        since="1880")`. `gsw_graph.explore.analyses.analyses()` has all of them.

        Raises InputError for an analysis, a parameter or a concept that does not exist, and as `cypher`.
        """
        from gsw_graph.explore import analyses

        query, values = analyses.bind(analyses.analysis(name), parameters)
        check = cancel.check if cancel else never_cancelled
        table = adhoc.run(self._connection, query, values, write=False, timeout=timeout, check=check)
        names = [values[key] for key in analyses.NAMES if values.get(key)]
        if names and not table.rows:
            contents.check_concepts(self._reader, names)
        return table

    @contextmanager
    def _answering(self, chat: Chat | None) -> Iterator[None]:
        """Close the client of a language model that stopped: what stopped it may be over when the next
        question comes."""
        try:
            yield
        except EndedError:
            raise
        except StoppedError as error:
            if chat is None:  # others' questions may be asking the shared one
                raise
            self._close_chat(chat)
            raise StoppedError(
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
        """The state of the memory, None where nothing was ever loaded."""
        state = self._state
        if state is None and (state := schema.read_state(self._connection)) is not None:
            schema.check_schema(state)
            self._state = state
        return state

    def _ready(self, check: Check = never_cancelled, *, may_build: bool = True) -> MemoryState | None:
        """The state of a memory that can be asked, None of an empty one; indexes that an interrupted load
        left undone are made first if they may be, those of a load under way waited for."""
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
    ) -> Context:
        """Return what a strategy works with for one question."""
        from gsw_graph.ask.codebook import complete
        from gsw_graph.ask.retrieve.context import Context
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
        return Context(
            reader,
            self,
            complete_runs,
            options=options,
            fit=read_fit(self._settings.fit),
            llm=llm,
            on_text=on_text,
            on_stage=on_stage,
        )
