"""A load from end to end: loaders -> extract -> embed -> write."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO

from gsw_graph.errors import InputError
from gsw_graph.extract import EXTRACTORS, Extractor, Rebel, Rules, Work, by_model
from gsw_graph.feed import Feed
from gsw_graph.inference.costs import Budget
from gsw_graph.pipeline import embed_and_write
from gsw_graph.results import LoadReport
from gsw_graph.tally import Progress, Tally

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection
    from gsw_graph.feed import Window
    from gsw_graph.inference.chat.chat import Chat
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.store.reader import DocumentState


@dataclass(frozen=True, slots=True)
class Options:
    """How to load: what the options of `gswgraph load` say."""

    extractor: str = "auto"
    replace: bool = False
    upgrade: bool = False
    second_pass: bool = False
    batch: bool = False
    dry_run: bool = False
    budget: str | None = None
    follow_links: bool = False

    def chosen(self, settings: Settings) -> str:
        """The extractor: `auto` is the language model where the settings name one, else rules. InputError
        where an option does not fit."""
        if self.extractor not in ("auto", *EXTRACTORS):
            raise InputError(
                f"there is no extractor {self.extractor!r}", hint=f"Use one of auto, {', '.join(EXTRACTORS)}"
            )
        name = self.extractor if self.extractor != "auto" else "llm" if settings.llm else "rules"
        asked = [
            option
            for option, given in (
                ("budget", self.budget and not settings.embedder_url),
                ("second pass", self.second_pass),
                ("batch", self.batch),
            )
            if given
        ]
        if asked and name != "llm":
            raise InputError(
                f"{name} asks no language model, so it has no {asked[0]}",
                hint="Name one: --llm or GSWGRAPH_LLM, and with --extractor llm",
            )
        return name


def load(
    connection: Connection,
    settings: Settings,
    embedder: Callable[[], Embedder],
    names: list[str],
    options: Options,
    *,
    stdin: BinaryIO | None = None,
    uploads: Mapping[str, BinaryIO] | None = None,
    progress: Callable[[Progress], None] | None = None,
    alone: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> LoadReport:
    """Load what `names` mean, and uploads; see `Memory.load`. alone: where nobody asks the memory, so that
    indexes can be built."""
    from gsw_graph import loaders
    from gsw_graph.store import schema
    from gsw_graph.store.reader import Reader

    start = perf_counter()
    chosen = options.chosen(settings)
    uploads = uploads or {}
    if options.batch and ("-" in names or uploads):
        raise InputError(
            "a batch reads its documents twice, and standard input and uploads can be read once",
            hint="Load from a file",
        )
    position = loaders.Position()
    items = loaders.read(
        names, stdin=stdin, uploads=uploads, position=position, follow_links=options.follow_links
    )
    reader = Reader(connection)
    tally = Tally(bytes=loaders.size(names, uploads=uploads, follow_links=options.follow_links))
    known = schema.read_state(connection) is not None

    def states(ids: list[str]) -> dict[str, DocumentState]:
        return reader.document_states(ids) if known else {}

    def prepare() -> None:
        nonlocal known
        schema.prepare(
            connection, embedder().name, embedder().dimension
        )
        known = True

    budget = Budget.parse(options.budget) if options.budget else None
    with opened_extractor(chosen, settings, options, tally, budget) as (extractor, chat):
        if not options.dry_run:
            if settings.embedder_url:
                embedder().runner.budget = budget  # type: ignore[attr-defined]
            schema.examine(connection, embedder().name, embedder().dimension)
        feed = Feed(
            items,
            states,
            extractor,
            tally,
            replace=options.replace,
            upgrade=options.upgrade,
            position=lambda: position.bytes,
        )
        if options.dry_run:
            return _estimated(feed, tally, chat, options, settings, start)
        if options.batch and chat is not None:
            _send(names, states, extractor, options, chat, progress)
        before = reader.counts()[0]
        _write(feed, connection, embedder(), tally, chat, progress, prepare)
        _index(connection, embedder().dimension, tally, progress, alone)
        after = reader.counts()[0]
        return LoadReport(
            tally.documents,
            {label: after[label] - before.get(label, 0) for label in after},
            tally.failures,
            {**tally.seconds, "total": perf_counter() - start},
            faults=tally.faults,
            note=_note(tally, chosen, settings),
            skipped=tally.skipped,
            **_spent(chat),
        )


@contextmanager
def opened_extractor(
    name: str, settings: Settings, options: Options, tally: Tally, budget: Budget | None = None
) -> Iterator[tuple[Extractor, Chat | None]]:
    """The extractor of a name, and the language model that it asks, if it asks one; closed at the end."""
    if name == "llm":
        from gsw_graph.inference.chat.chat import Chat

        if options.dry_run and not settings.llm_key and not settings.llm_url:
            settings = replace(settings, llm_key="none")  # an estimate needs no key, and sends none
        with Chat.open(settings, budget=budget) as chat:
            tally.asked = chat.ledger.total
            chat.on_trouble = lambda problem: tally.post(problem=problem)

            def answered(problem: str | None) -> None:
                tally.post(answered=1, **({} if problem is None else {"problem": problem}))

            yield (
                by_model(chat, settings.concurrency, second_pass=options.second_pass, on_passage=answered),
                chat,
            )
    elif name == "rebel":
        from gsw_graph.extract.rebel import MODEL

        yield Rules(name, MODEL) if options.dry_run else Rebel(settings.device), None
    else:
        yield Rules(name), None


def _send(
    names: list[str],
    states: Callable[[list[str]], dict[str, DocumentState]],
    extractor: Extractor,
    options: Options,
    chat: Chat,
    progress: Callable[[Progress], None] | None,
) -> None:
    """The first pass of what is new to the memory, by the Batch API; the load then finds the replies in
    the cache. Interrupted, it goes on the next time."""
    from gsw_graph import loaders
    from gsw_graph.extract.llm import check, request

    feed = Feed(
        loaders.read(names, follow_links=options.follow_links),
        states,
        extractor,
        Tally(),
        replace=options.replace,
        upgrade=options.upgrade,
    )
    new = (work.document for work in feed.fresh() if work.workspace is None)

    def waiting(done: int, sent: int) -> None:
        if progress is not None:
            progress(Progress(0, done, sent, "waiting"))

    places = ((document, passage.position) for document in new for passage in document.passages)
    chat.batches().fetch(((chat.chosen(request(*place)), check(*place)) for place in places), waiting)


def _write(
    feed: Feed,
    connection: Connection,
    embedder: Embedder,
    tally: Tally,
    chat: Chat | None,
    progress: Callable[[Progress], None] | None,
    prepare: Callable[[], None],
) -> None:
    """prepare: makes the schema, called before the first write, so that a load that fails before leaves
    the memory as it is, or none."""
    from gsw_graph.store.writer import Writer

    def report() -> None:
        said = tally.progress("loading")
        if progress is not None:
            progress(said)

    with feed as windows, Writer(connection, lambda passages: tally.post(written=passages), report) as writer:
        try:
            embed_and_write(_prepared(windows, prepare), embedder, writer, tally, report)
        except BaseException:
            if chat is not None:
                # no call begins from now on; those under way are paid for, and kept when `chat` closes
                chat.stop()
            raise
    tally.collect()
    tally.seconds["write"] = writer.seconds


def _prepared(windows: Iterator[Window | None], prepare: Callable[[], None]) -> Iterator[Window | None]:
    """The windows; `prepare` is called before the first."""
    done = False
    for window in windows:
        if window is not None and not done:
            prepare()
            done = True
        yield window


def _index(
    connection: Connection,
    dimension: int,
    tally: Tally,
    progress: Callable[[Progress], None] | None,
    alone: Callable[[], AbstractContextManager[None]],
) -> None:
    """Make the search indexes after the first rows, and anew where the memory has outgrown them."""
    from gsw_graph.store import schema

    state = schema.read_state(connection)
    if state is None or not tally.new + tally.replaced + tally.unchanged:
        return
    if not state.indexed or schema.missing_indexes(connection):
        build = schema.build_search_indexes
    elif tally.new + tally.replaced and schema.outgrown(connection, state):
        build = schema.renew_vector_indexes
    else:
        return
    if progress is not None:
        progress(tally.progress("indexing"))
    start = perf_counter()
    with alone():
        build(connection, dimension)
    tally.seconds["index"] = perf_counter() - start


def _estimated(
    feed: Feed, tally: Tally, chat: Chat | None, options: Options, settings: Settings, start: float
) -> LoadReport:
    """What a load would do, without a call and without a write."""
    found = None
    if chat is None:
        deque(_counted(feed, tally), maxlen=0)
        tally.collect()
    else:
        from gsw_graph.extract.pool import estimate
        from gsw_graph.inference.chat.cache import FILE, Cache

        with closing(Cache(settings.cache_dir / FILE)) as cache:
            found = estimate(
                _counted(feed, tally), chat, cache, second_pass=options.second_pass, batch=options.batch
            )
        tally.collect()
    seconds = {**tally.seconds, "total": perf_counter() - start}
    note = _note(tally, options.chosen(settings), settings)
    nodes = {"Document": tally.new, "Passage": tally.passages}
    return LoadReport(
        tally.documents, nodes, tally.failures, seconds, estimate=found, note=note, skipped=tally.skipped
    )


def _note(tally: Tally, extractor: str, settings: Settings) -> str | None:
    """What a user may have meant: a better extractor for what is there, or a server without its model."""
    if tally.upgradable:
        documents = (
            "1 unchanged document was"
            if tally.upgradable == 1
            else f"{tally.upgradable:,} unchanged documents were"
        )
        return f"{documents} read by less than {extractor}; --upgrade has them read again"
    if settings.llm_url and not settings.llm:
        return "a server of language models is set and no model, so none was asked: set GSWGRAPH_LLM"
    return None


def _counted(feed: Feed, tally: Tally) -> Iterator[Work]:
    for work in feed.fresh():
        tally.passages += len(work.document.passages)
        if work.mode == "new":
            tally.new += 1
        else:
            tally.replaced += 1
        yield work


def _spent(chat: Chat | None) -> dict[str, Any]:
    """What the language model was asked, as the report has it."""
    if chat is None:
        return {}
    total = chat.ledger.total()
    return {
        "tokens": {"in": total.prompt_tokens, "out": total.completion_tokens},
        "calls": total.calls,
        "failed_calls": total.failed,
        "cached": total.cached,
        "dollars": total.dollars,
        "ledger": chat.ledger.rows(),
    }
