"""Load documents from end to end: read, compare with the memory, extract, embed, write.

Three threads form a pipeline: the first reads and extracts, the second embeds, the third writes. The caller's
thread waits and reports. `concurrency.prefetch` bounds the queue between two threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from gsw_graph import loaders
from gsw_graph.concurrency import acquired, grouped, prefetch
from gsw_graph.config import Settings
from gsw_graph.engine import Connection
from gsw_graph.errors import InputError, UnembeddableError, WorkCancelledError
from gsw_graph.extract import BY_MODEL, EXTRACTORS, ExtractionJob, Extractor, Rules, pool, with_names
from gsw_graph.load.corrections import corrections
from gsw_graph.load.counters import LoadCounters
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.documents import Document, Failure, Skipped, Value, Workspace, counted
from gsw_graph.model.results import LoadReport, Progress
from gsw_graph.models.chat.cache import FILE, Cache
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import schema, writer
from gsw_graph.store.reader import DocumentState, Reader
from gsw_graph.store.rows import Mode, Vector
from gsw_graph.text.languages import ENGLISH
from gsw_graph.values import Fields, without_none

if TYPE_CHECKING:
    from gsw_graph.models.chat.chat import Chat

States = Callable[[list[str]], dict[str, DocumentState]]
Item = Document | Workspace
Given: TypeAlias = "dict[str, Value | None]"  # metadata, None for a key that is removed
# Passages whose documents are compared with the memory in one round trip.
_COMPARED = 256
# Windows that extraction may be ahead of embedding, and bytes of rows that embedding may be ahead of writing.
# The bytes are about two windows, so that embedding does not wait for an engine that is still slow.
_WINDOWS_AHEAD, _BYTES_AHEAD = 2, 32_000_000
# Passages of the first window, so that the engine has work early.
_FIRST_WINDOW = 16
# Texts embedded in one call, about two seconds on a processor, so that a large document shows progress.
_CALL = 128
# Loaders of records, which name their sources themselves.
_RECORDS = frozenset(("corpus", "workspaces", "openie", "propositions"))
_CLAIMED = (
    "a record says that this is its source, which is a file of the memory; give the record a source of its "
    "own, or forget that document first"
)
_OTHER = "this source has other content in {file}; give each record its own id, or forget that document first"


Window = list[tuple[Workspace, Mode]]
"""Workspaces that are embedded together, each with how it comes into the memory."""


def load(
    connection: Connection,
    settings: Settings,
    embedder: Callable[[], Embedder],
    names: list[str],
    options: LoadOptions,
    *,
    stdin: BinaryIO | None = None,
    uploads: Mapping[str, BinaryIO] | None = None,
    progress: Callable[[Progress], None] | None = None,
    exclusive_lock: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> LoadReport:
    """Load what `names` mean, and uploads; see `Memory.load`.

    Args:
        connection: The memory.
        settings: Models and folders of the memory.
        embedder: Returns the embedder.
        names: Files, folders, globs or `-`.
        options: How to load.
        stdin: The stream that `-` reads.
        uploads: Open files by name.
        progress: Called in this thread, several times a second at most.
        exclusive_lock: Holds questions off while indexes are built.
    """

    start = perf_counter()
    chosen = options.chosen(settings)
    uploads = uploads or {}
    if options.batch and ("-" in names or uploads):
        raise InputError(
            "a batch reads its documents twice, and standard input and uploads can be read once",
            hint="Load from a file",
        )
    position = loaders.Position()
    links = {"follow_links": options.follow_links}
    items = loaders.read(names, stdin=stdin, uploads=uploads, position=position, **links)
    reader = Reader(connection)
    counters = LoadCounters(loaders.size(names, uploads=uploads, **links))

    def report(stage: str = "loading") -> None:
        if progress is not None:
            progress(counters.progress(stage))

    budget = Budget.parse(options.budget) if options.budget else None
    with opened_extractor(chosen, settings, options, counters, budget) as (extractor, chat):
        states: States = reader.document_states
        if options.dry_run and schema.read_state(connection) is None:
            states = lambda _: {}  # noqa: E731
        work = new_work(items, states, extractor, counters, options, lambda: position.bytes)
        if options.dry_run:
            return _estimated(work, counters, chat, options, settings, start)
        model = embedder().limited(budget)
        schema.prepare(connection, model.name, model.dimension)
        if options.batch and chat is not None:
            _send(names, states, extractor, options, chat, progress)
        before = reader.counts()[0]
        try:
            _write(windows(work, extractor, counters), connection, model, counters, report)
        except BaseException:
            if chat is not None:
                # No call begins from now on. Calls under way are paid for; `chat` waits for them and caches
                # them.
                chat.stop()
            raise
        _index(connection, model.dimension, counters, report, exclusive_lock)
        after = reader.counts()[0]
        nodes = {label: count - before.get(label, 0) for label, count in after.items()}
        if counters.counts["replaced"]:
            counters.add(lapsed=sum(correction.lapsed for correction in corrections(connection)))
        note = _note(counters, chosen, settings)
        return counters.report(perf_counter() - start, nodes=nodes, note=note, **_spent(chat))


def _described(document: Document, given: Given, state: DocumentState | None) -> Document:
    """Return a document with its metadata replaced, key by key, by metadata that people gave in this load or
    an earlier load."""
    if state:
        stored = state.properties
        given = {key: stored.get(f"meta_{key}") for key in stored.get("given") or ()} | given
    kept = without_none(given)
    return replace(document, meta={**given, **document.meta, **kept}, given=tuple(kept))


@contextmanager
def opened_extractor(
    name: str,
    settings: Settings,
    options: LoadOptions,
    counters: LoadCounters,
    budget: Budget | None = None,
) -> Iterator[tuple[Extractor, Chat | None]]:
    """Open an extractor by name, and its language model if it needs one."""
    if name not in BY_MODEL:
        yield Rules(name), None
        return

    settings = settings.for_role("extract")
    if options.dry_run and not settings.llm_key and not settings.llm_url:
        # An estimate needs no key, and sends none.
        settings = replace(settings, llm_key="none")

    def on_trouble(problem: str) -> None:
        counters.problem = problem

    def on_passage(problem: str | None) -> None:
        counters.add(answered=1)
        counters.problem = problem or counters.problem

    with Chat.open(settings, budget=budget) as chat:
        counters.spent = chat.ledger.total
        chat.context.on_trouble = on_trouble
        second_pass = options.second_pass
        extractor = pool.ByModel(
            chat, settings.concurrency, name, second_pass=second_pass, on_passage=on_passage
        )
        yield extractor, chat


def new_work(
    items: Iterable[Item | Failure],
    states: States,
    extractor: Extractor,
    counters: LoadCounters,
    options: LoadOptions,
    position: Callable[[], int] = lambda: 0,
) -> Iterator[ExtractionJob]:
    """Yield the documents and ready workspaces that are new to the memory or changed, before extraction.

    Args:
        items: What the loaders read.
        states: Returns the states of stored documents, by id.
        extractor: The extractor of this load, by which a document may be outdated.
        counters: Gets failures and counts.
        options: Say which documents are taken, and whether unchanged documents are loaded again.
        position: Returns the bytes of the files that the loaders have read.
    """
    last, given = 0, options.metadata()
    for some in _compared_together(items, counters, options):
        stored = states([_document_of(item).id for item in some])
        fresh = []
        for item in some:
            state = stored.get(_document_of(item).id)
            work = _work(item, state, given, extractor, counters, options)
            if work is not None:
                fresh.append(work)
        here, last = position() - last, position()
        counters.add(read_bytes=here, seen=sum(len(work.document.passages) for work in fresh))
        yield from fresh
    counters.all_read = True


def _document_of(item: Item) -> Document:
    return item.document if isinstance(item, Workspace) else item


def _work(
    item: Item,
    state: DocumentState | None,
    given: Given,
    extractor: Extractor,
    counters: LoadCounters,
    options: LoadOptions,
) -> ExtractionJob | None:
    """Return the work for an item, or None if the memory has it already. Other content under the same source
    is counted as a failure, and gives None too."""
    document = _described(_document_of(item), given, state)
    if state is not None:
        problem = None
        if document.loader in _RECORDS and state.loader is not None and state.loader not in _RECORDS:
            problem = _CLAIMED
        file = str(state.properties.get("file", "")) if document.file else ""
        # A moved file is replaced. If the stored file still exists, this is a copy, and the stored path
        # stays.
        if file not in ("", document.file) and os.path.isfile(file):  # noqa: PTH113
            document = replace(document, file=file)
            if not problem and state.text_hash != document.content_hash:
                problem = _OTHER.format(file=file)
        if problem:
            counters.failures.append(Failure(document.source, problem))
            return None
    item = replace(item, document=document) if isinstance(item, Workspace) else document
    mode = _mode(item, document, state, extractor, counters, options)
    if mode:
        return ExtractionJob(item, mode, state, with_names(item) if isinstance(item, Workspace) else None)
    if state and any(state.properties.get(key) != value for key, value in document.properties.items()):
        return ExtractionJob(item, "describe", state, Workspace(document, state.extractor))
    counters.add(unchanged=1)
    return None


def windows(work: Iterable[ExtractionJob], extractor: Extractor, counters: LoadCounters) -> Iterator[Window]:
    """Yield windows of extracted workspaces; the first window is small."""
    window: Window = []
    passages, enough = 0, min(_FIRST_WINDOW, extractor.window)
    for done in counters.timed_items("extract", extractor.run(work)):
        counters.failures += done.failures
        counters.faults += done.faults
        if done.workspace is not None:
            window.append((done.workspace, done.mode))
            passages += len(done.document.passages)
            counters.add_document(done.mode)
        if passages >= enough:
            yield window
            window, passages, enough = [], 0, extractor.window
    if window:
        yield window


def embed(
    texts: Iterable[str],
    embedder: Embedder,
    on_share: Callable[[float], None] = lambda _: None,
) -> tuple[dict[str, Vector], dict[str, str]]:
    """Embed texts, each distinct text once.

    Args:
        texts: In any order.
        embedder: Embeds them.
        on_share: Called after each batch with the share of the texts that is embedded, in [0, 1].

    Returns:
        Vectors by text, and for a text that cannot be embedded the reason.
    """
    # Sorted by length, so that a batch has texts of similar length.
    distinct = sorted(set(texts), key=lambda text: (-len(text), text))
    vectors: dict[str, Vector] = {}
    reasons: dict[str, str] = {}
    for begin in range(0, len(distinct), _CALL):
        called = distinct[begin : begin + _CALL]
        try:
            found = embedder.encode(called)
        except UnembeddableError as error:
            for sent, reason in error.reasons.items():
                reasons[sent.removeprefix(embedder.document_prompt)] = reason
            called = [text for text in called if text not in reasons]
            found = embedder.encode(called)  # a server's vectors are cached, so these cost no second call
        vectors.update(zip(called, found, strict=True))
        on_share(min(begin + _CALL, len(distinct)) / len(distinct))
    return vectors, reasons


def texts(workspace: Workspace, mode: Mode) -> Iterator[str]:
    """Yield the texts of a workspace to embed: passages, unless the memory has them already, phrases, pairs
    and propositions."""
    if mode == "describe":
        return
    if mode != "renew":
        for passage in workspace.document.passages:
            yield passage.full_text
    for phrase in workspace.verb_phrases:
        yield phrase.phrase
        for pair in phrase.pairs:
            yield pair.text
    for fact in workspace.propositions:
        yield fact.text


def _write(
    extracted: Iterator[Window],
    connection: Connection,
    embedder: Embedder,
    counters: LoadCounters,
    report: Callable[[], None],
) -> None:
    """Embed windows in a second thread and write batches in a third. Ctrl-C comes in this thread, so it
    interrupts no transaction: the batch under way is written whole."""

    ended, lock = threading.Event(), threading.Lock()  # the lock is held while a batch is written

    def check() -> None:
        if ended.is_set():
            raise WorkCancelledError("the load has ended")

    def batches() -> Iterator[writer.Batch]:
        with closing(prefetch(extracted, _WINDOWS_AHEAD, on_wait=check)) as ahead:
            for window in ahead:
                yield from _batches(window, embedder, counters)

    def written() -> Iterator[None]:
        ready = prefetch(batches(), _BYTES_AHEAD, size=lambda batch: batch.bytes, on_wait=check)
        with closing(ready):
            for batch in ready:
                with lock:
                    check()
                    with counters.timed("write"):
                        writer.write_batch(connection, batch, lambda passages: counters.add(written=passages))
                yield None

    try:
        with closing(prefetch(written(), _WINDOWS_AHEAD, on_wait=report)) as done:
            for _ in done:
                report()
    finally:
        with acquired(lock):
            ended.set()
    report()


def _batches(window: Window, embedder: Embedder, counters: LoadCounters) -> Iterator[writer.Batch]:

    passages = sum(len(workspace.document.passages) for workspace, _ in window)
    before = counters.counts["passages"]

    def on_share(share: float) -> None:
        counters.counts["passages"] = before + int(share * passages)

    with counters.timed("embed"):
        wanted = (text for workspace, mode in window for text in texts(workspace, mode))
        vectors, reasons = embed(wanted, embedder, on_share)
    batch = writer.Batch()
    for workspace, mode in window:
        failed = next((text for text in texts(workspace, mode) if text in reasons), None) if reasons else None
        if failed is not None:
            counters.add_document(mode, -1)
            reason = UnembeddableError({failed: reasons[failed]}).message
            counters.failures.append(Failure(workspace.document.source, reason))
            continue
        batch.add(workspace, vectors, mode)
        if batch.bytes >= writer.BATCH_BYTES:
            yield batch
            batch = writer.Batch()
    if batch.documents:
        yield batch
    counters.counts["passages"] = before + passages
    counters.add(embedded=len(window))


def _index(
    connection: Connection,
    dimension: int,
    counters: LoadCounters,
    report: Callable[[str], None],
    exclusive_lock: Callable[[], AbstractContextManager[None]],
) -> None:
    """Build search indexes after the first rows, and rebuild vector indexes that the memory has outgrown."""

    state = schema.read_state(connection)
    counts = counters.counts
    if state is None or not counts["new"] + counts["replaced"] + counts["unchanged"]:
        return
    if not state.indexed or schema.missing_indexes(connection):
        build = schema.build_search_indexes
    elif counts["new"] + counts["replaced"] and schema.outgrown(connection, state):
        build = schema.renew_vector_indexes
    else:
        return
    report("indexing")
    with counters.timed("index"), exclusive_lock():
        build(connection, dimension)


def _compared_together(
    items: Iterable[Item | Failure], counters: LoadCounters, options: LoadOptions
) -> Iterator[list[Item]]:
    """Yield the items that the options take, in runs that one round trip compares with the memory. Failures
    go to the counters."""

    def read() -> Iterator[Item]:
        for item in counters.timed_items("read", items):
            source = item.source if isinstance(item, Failure) else _document_of(item).source
            if not options.takes(source):
                continue
            if isinstance(item, Failure):
                (counters.skipped if isinstance(item, Skipped) else counters.failures).append(item)
            else:
                yield item

    def passages(item: Item) -> int:
        return len((item.document if isinstance(item, Workspace) else item).passages)

    return grouped(read(), passages, _COMPARED)


def _mode(
    item: Item,
    document: Document,
    state: DocumentState | None,
    extractor: Extractor,
    counters: LoadCounters,
    options: LoadOptions,
) -> Mode | None:
    """Return how an item is written; None if the memory has it. What another extractor found in the same text
    stays, unless `upgrade` is set and this extractor finds more."""
    if state is None:
        return "new"
    if options.replace or state.status == "loading" or state.text_hash != document.content_hash:
        return "replace"
    if "language" not in state.properties and document.language != ENGLISH:
        return "replace"  # loaded by a version in which ids did not depend on the language
    if state.status == "renewing":
        return "renew"
    if isinstance(item, Workspace):
        same = state.content_hash == item.content_hash and state.extractor == item.extractor
    elif state.extractor == extractor.name:
        same = not state.unread and (state.model == extractor.model or not options.upgrade)
    else:  # extractors are in order, the weakest first; ready workspaces are never upgraded
        finds_more = state.extractor in EXTRACTORS[: EXTRACTORS.index(extractor.name)]
        same = not finds_more or not options.upgrade
        counters.add(upgradable=finds_more and same)
    return None if same else "renew"


def _send(
    names: list[str],
    states: States,
    extractor: Extractor,
    options: LoadOptions,
    chat: Chat,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Send the first pass over new documents to the Batch API. The load then finds the replies in the cache.
    If this is interrupted, the next load goes on with the same batch."""

    def waiting(done: int, sent: int) -> None:
        if progress is not None:
            progress(Progress(0, done, sent, "waiting"))

    profile = pool.PROFILES[extractor.name]()

    def requests() -> Iterator[Any]:
        items = loaders.read(names, follow_links=options.follow_links)
        for work in new_work(items, states, extractor, LoadCounters(), options):
            if work.workspace is None:
                document = work.document
                for group in profile.groups(document):
                    yield chat.chosen(profile.request(document, group)), profile.check(document, group)

    chat.batches().fetch(requests(), waiting)


def _estimated(
    work: Iterable[ExtractionJob],
    counters: LoadCounters,
    chat: Chat | None,
    options: LoadOptions,
    settings: Settings,
    start: float,
) -> LoadReport:
    """Report what a load would do, without a call and without a write."""
    estimated = None
    counted_work = _counted(work, counters)
    if chat is None:
        deque(counted_work, maxlen=0)
    else:
        with closing(Cache(settings.cache_dir / FILE)) as cache:
            profile = pool.PROFILES[options.chosen(settings)]()
            profile.second_pass = options.second_pass
            estimated = pool.estimate(counted_work, chat, cache, profile, batch=options.batch)
    note = _note(counters, options.chosen(settings), settings)
    documents, passages = counters.counts["new"], counters.counts["passages"]
    if settings.embedder_url and passages:  # rules have only passages to embed
        note = (
            f"the server of embeddings would be sent {counted({'passage': passages})}, about "
            f"{counters.counts['passage_tokens']:,} tokens, and the phrases and pairs that are found in them"
        )
    nodes = {"Document": documents, "Passage": passages}
    return counters.report(perf_counter() - start, nodes=nodes, estimate=estimated, note=note)


def _counted(work: Iterable[ExtractionJob], counters: LoadCounters) -> Iterator[ExtractionJob]:
    for item in work:
        passages = item.document.passages
        counters.add_document(item.mode)
        if item.mode != "describe":
            tokens = sum(estimate(passage.text) for passage in passages)
            counters.add(passages=len(passages), passage_tokens=tokens)
        yield item


def _note(counters: LoadCounters, extractor: str, settings: Settings) -> str | None:
    """Return a note on corrections that have lapsed, on documents that a better extractor could read again,
    or on a server without a model; else None."""
    if lapsed := counters.counts["lapsed"]:
        return (
            "corrections that no longer apply, as the text that they supersede has changed or gone: "
            f"{lapsed:,} (gswgraph correct --list)"
        )
    if number := counters.counts["upgradable"]:
        documents = f"{counted({'unchanged document': number})} {'was' if number == 1 else 'were'}"
        return f"{documents} read by less than {extractor}; --upgrade has them read again"
    if settings.llm_url and not settings.llm:
        return "a server of language models is set and no model, so none was asked: set GSWGRAPH_LLM"
    return None


def _spent(chat: Chat | None) -> Fields:
    """Return tokens, calls and dollars of the language model, as fields of the report."""
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
