"""The second half of a load: embed in the caller's thread, write in another; never more than some batches between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.feed import Feed, Tally, Window
    from gsw_graph.inference.embedder import Embedder
    from gsw_graph.model import Workspace
    from gsw_graph.store.rows import Mode, Vectors
    from gsw_graph.store.writer import Writer

_FIRST = ["the first"] * 32  # enough to be embedded in bulk (openvino_backend.BULK)
PHRASES = 20_000  # vectors kept of phrases that other documents may have too: 30 MB of 384 dimensions


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is: documents and passages done, `total` passages where it is known, `stage` loading or indexing; what failed, and the last reason."""

    documents: int
    passages: int
    total: int | None
    stage: str
    failed: int = 0
    problem: str | None = None


def embed_and_write(
    feed: Feed, windows: Iterable[Window | None], embedder: Embedder, writer: Writer, tally: Tally, progress: Callable[[Progress], None] | None
) -> None:
    """Embed each window's passages together and hand the workspaces with their vectors to the writer."""
    from gsw_graph.store.writer import BATCH_BYTES, Batch

    documents = passages = 0
    compiled = False
    phrases: dict[str, NDArray[np.float32]] = {}

    def report() -> None:
        if progress is not None:
            failures = tally.failures
            progress(Progress(documents, passages, feed.total, "loading", len(failures), failures[-1].reason if failures else None))

    for window in windows:
        if window is None:
            report()
            if not compiled:  # for bulk, which takes a moment that is free now
                embedder.encode(_FIRST)
                compiled = True
            continue
        compiled = True
        start = perf_counter()
        embedded = list(_embed(window.workspaces, embedder, phrases))
        tally.seconds["embed"] += perf_counter() - start
        batch = Batch()
        for (workspace, mode), vectors in zip(window.workspaces, embedded, strict=True):
            batch.add(workspace, vectors, mode)
            if batch.bytes >= BATCH_BYTES:
                writer.put(batch)
                batch = Batch()
        if batch.documents:
            writer.put(batch)
        documents += len(window.workspaces)
        passages += window.passages
        tally.passages = passages
        report()


def _embed(workspaces: Sequence[tuple[Workspace, Mode]], embedder: Embedder, known: dict[str, NDArray[np.float32]]) -> Iterator[Vectors]:
    """The vectors of some workspaces, all their texts embedded in one call and each different text once; `known` are phrases of earlier calls, and grows."""
    import numpy as np

    from gsw_graph.store.rows import Vectors

    parts = [texts(workspace, mode) for workspace, mode in workspaces]
    wanted = dict.fromkeys(text for part in parts for some in part for text in some)
    old, new = [text for text in wanted if text in known], [text for text in wanted if text not in known]
    kept = np.array([known[text] for text in old], np.float32).reshape(-1, embedder.dimension)
    vectors = np.concatenate([kept, embedder.encode(new)])
    number = {text: n for n, text in enumerate([*old, *new])}
    for part in parts:
        passages, pairs, facts, phrases = (vectors[[number[text] for text in some]] for some in part)
        yield Vectors(passages, pairs, facts, dict(zip(part[3], phrases, strict=True)))
        # A copy each: a row would keep all vectors of its call.
        known.update((phrase, vector.copy()) for phrase, vector in zip(part[3], phrases, strict=True) if phrase not in known)
    if len(known) > PHRASES:
        known.clear()


def texts(workspace: Workspace, mode: Mode) -> tuple[list[str], list[str], list[str], list[str]]:
    """What is embedded of a workspace: its passages, where they do not stand in the memory, its pairs, propositions and phrases."""
    return (
        [] if mode == "renew" else [p.full_text for p in workspace.document.passages],
        [pair.text for phrase in workspace.verb_phrases for pair in phrase.pairs],
        [fact.text for fact in workspace.propositions],
        list(dict.fromkeys(phrase.phrase for phrase in workspace.verb_phrases)),
    )
