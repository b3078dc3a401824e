"""Join the parts of the store in `Memory`: open, load, ask, forget, status."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from gsw_graph.ask.options import AskOptions
from gsw_graph.concurrency import check_of
from gsw_graph.cypher import of_memory
from gsw_graph.engine import with_plain_errors
from gsw_graph.errors import InputError
from gsw_graph.explore import (
    analyses,
    browser,
    contents,
    notebook,  # noqa: F401 - registers how results are shown
)
from gsw_graph.explore.picture import picture
from gsw_graph.memory.opened import OnStage, OnText
from gsw_graph.memory.writing import OnProgress, WritableMemory
from gsw_graph.model import results
from gsw_graph.model.results import Progress
from gsw_graph.models.chat.limits import QuestionBudget
from gsw_graph.store import questions, schema
from gsw_graph.store.reader import Reader
from gsw_graph.telemetry import annotate, span

if TYPE_CHECKING:
    from gsw_graph.ask.conversation import Conversation
    from gsw_graph.concurrency import Cancel
    from gsw_graph.store.questions import Verdict

P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["Memory", "OnProgress", "OnStage", "OnText", "Progress"]


def _reading(function: Callable[Concatenate[Reader, P], T]) -> Callable[Concatenate[Memory, P], T]:
    """Return the method of `Memory` that calls a function with its reader."""

    @wraps(function)
    def method(memory: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(memory._reader, *args, **kwargs)

    return with_plain_errors(method)


class Memory(WritableMemory):
    """Load documents and answer questions about them. Open a memory with `Memory.open`, and close it or use a
    `with` statement.

    A memory is safe for many threads: questions run in parallel, writes run one after another, and a question
    waits while an index is built. Several processes may share a Neo4j server. An embedded memory is open in
    one process at a time, which `gswgraph serve` shares. After `close` every method raises EngineError.
    """

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
        """Answer a question. Return the answer, the passages that the strategy found, best first, and with a
        plan the chains that lead to the answer.

        If the settings name a language model, it plans and answers. `auto` is `fusion` if there is a plan or
        the memory has pairs, else `linked`. The question is stored in the memory with the evidence of its
        answer.

        Args:
            question: The question, in whole words.
            on_text: Called with pieces of the language model's answer as they arrive.
            on_stage: Called with the stage, a key of the answer's `seconds`, and None or the reason of a new
                try.
            cancel: Ends the question from another thread, with WorkCancelledError.
            options: Fields of `AskOptions`, such as `strategy="linked"`, `plan=[...]`, `k=10` or
                `answer=False`. A strategy may be a `Strategy` of your own.

        Raises:
            InputError: The question is empty, or an option does not fit.
        """
        with self._lazy:
            if self._warming is not None and self._warming.ident is None and not self._closed:
                self._warming.start()  # the engine reads its index while we import and embed
        from gsw_graph.ask.asking import ask, empty_answer, prepare_query
        from gsw_graph.models.chat.chat import QuestionModel

        ask_options = AskOptions(**options)
        strategy, planned = prepare_query(question, ask_options)
        limit = None if ask_options.budget is None else QuestionBudget.parse(ask_options.budget)
        check = check_of(cancel)
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
            if answer.answer is not None and is_usable and "embedder" in context.models_used:
                vector = context.vector(answer.question).tolist()
            limited = not ask_options.sees_all
            return replace(answer, id=questions.keep(self._connection, answer, vector, limited=limited))

    def conversation(self) -> Conversation:
        """Return a new conversation, in which a question may depend on earlier questions ("and when did she
        die?")."""
        from gsw_graph.ask.conversation import Conversation

        return Conversation(self.ask)

    def confirm(self, which: int | str) -> results.AskedQuestion:
        """Record that an answer is right, so that it may be given again unchanged. which: See `question`.
        Raises InputError if there is no such question, or it has no answer."""
        return self._judge(which, "confirmed")

    def reject(self, which: int | str) -> results.AskedQuestion:
        """Record that an answer is wrong, so that its evidence is not used again. Argument and errors are
        those of `confirm`."""
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
        if self._ready(check_of(cancel)):
            self.ask("warm up", strategy="linked", k=1, llm=False, keep=False, cancel=cancel)

    @with_plain_errors
    def exists(self) -> bool:
        """Tell whether anything was ever loaded into this memory."""
        return schema.read_state(self._connection) is not None

    @with_plain_errors
    def memories(self) -> list[results.StoredMemory]:
        """Return the memories of this database by name: each that was opened with `?memory=NAME`, and the
        default memory, whose name is empty."""
        return schema.memories(self._connection)

    @with_plain_errors
    def status(self) -> results.Status:
        """Return counts, models and state of the memory."""
        return schema.status(self._connection)

    @with_plain_errors
    def browser(self, question: str | None = None) -> str:
        """Return the address that opens Neo4j Browser at this memory with a query in its editor. For a stored
        question, given by its id or the beginning, the query draws the evidence of its answer; else it draws
        the names that connect most documents.

        Raises EngineError for a memory in a folder, which has no Browser, InputError if there is no such
        question.
        """
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

        Its `save` writes an HTML file that needs no network; a notebook shows the picture. An answer asked
        with `trace=True` shows how its passages were found. Raises InputError as `cypher` does, and if there
        is nothing to draw.
        """
        from gsw_graph.explore.picture.drawing import of_answer, of_records
        from gsw_graph.store import adhoc

        reader = self._reader
        if isinstance(source, results.Answer):
            return of_answer(source, lambda ids: reader.passages(ids, [0.0] * len(ids)))
        check = check_of(cancel)
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
            query: The query. Unless `write` is set, a query that would change the memory is refused with
                InputError.
            write: Whether the query may change the memory.
            timeout: Seconds after which the engine ends the query, with InputError; Ctrl-C and `cancel` end
                it too.
            cancel: Ends the query from another thread.
            parameters: Values of the query.
        """
        from gsw_graph.store import adhoc

        check = check_of(cancel)
        with self._changing(check) if write else nullcontext():
            return adhoc.run(self._connection, query, parameters, write=write, timeout=timeout, check=check)

    @with_plain_errors
    def ask_cypher(
        self, question: str, *, timeout: float | None = 60.0, cancel: Cancel | None = None
    ) -> results.AskedTable:
        """Let the language model write a Cypher query for a question, and run the query.

        The model sees the schema, the keys of metadata and the names of the question, but no document. If its
        query cannot be run, the model is told once. At most 100 rows are returned.

        Args:
            question: A question that counts or lists: "how many documents mention Ottilie Grau, by year?"
            timeout: Seconds after which the engine ends a query.
            cancel: Ends the query from another thread.

        Raises:
            InputError: The question is empty, the settings name no model, or no query answers it.
            InvalidReplyError: No query of the model could be run.
        """
        from gsw_graph.ask.text_to_cypher import query_by_question
        from gsw_graph.models.chat.chat import QuestionModel

        if not question.strip():
            raise InputError("the question is empty")
        check = check_of(cancel)
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
        """Run an analysis by its name, with defaults for missing parameters: `memory.explore("timeline",
        since="1880")`. `gsw_graph.explore.analyses.analyses()` lists all analyses.

        Raises InputError for an analysis, a parameter or a concept that does not exist, and as `cypher`.
        """
        from gsw_graph.store import adhoc

        query, values = analyses.bind(analyses.analysis(name), parameters)
        check = check_of(cancel)
        table = adhoc.run(self._connection, query, values, write=False, timeout=timeout, check=check)
        names = [values[key] for key in analyses.NAMES if values.get(key)]
        if names and not table.rows:
            contents.check_concepts(self._reader, names)
        return table
