"""The second half of a load: embed in the caller's thread, write in another; never more than some batches
between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.feed import Window
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.model import Workspace
    from gsw_graph.store.rows import Mode, Vectors
    from gsw_graph.store.writer import Writer
    from gsw_graph.tally import Tally

_PART, _LEAST = 256, 32  # texts embedded in one call: the first, and never fewer
_EVERY = 2.0  # seconds that a call should take, so that a large document shows how far it is


def embed_and_write(
    windows: Iterable[Window | None],
    embedder: Embedder,
    writer: Writer,
    tally: Tally,
    report: Callable[[], None],
) -> None:
    """Embed each window's passages together and hand the workspaces with their vectors to the writer.
    report: called now and then."""
    from gsw_graph.store.writer import BATCH_BYTES, Batch

    for window in windows:
        if window is None:
            report()
            continue
        start, before = perf_counter(), tally.passages

        def embedded(share: float, before: int = before, passages: int = window.passages) -> None:
            tally.passages = before + int(share * passages)
            report()

        vectors_of = list(embed(window.workspaces, embedder, embedded))
        tally.seconds["embed"] += perf_counter() - start
        batch = Batch()
        for (workspace, mode), vectors in zip(window.workspaces, vectors_of, strict=True):
            batch.add(workspace, vectors, mode)
            if batch.bytes >= BATCH_BYTES:
                writer.put(batch)
                batch = Batch()
        if batch.documents:
            writer.put(batch)
        tally.documents_embedded += len(window.workspaces)
        tally.passages = before + window.passages
        report()


def embed(
    workspaces: Sequence[tuple[Workspace, Mode]],
    embedder: Embedder,
    on_share: Callable[[float], None] | None = None,
) -> Iterator[Vectors]:
    """The vectors of some workspaces, each different text embedded once. on_share: told which share of the
    texts is embedded, every few seconds."""
    import numpy as np

    from gsw_graph.store.rows import Vectors

    parts = [texts(workspace, mode) for workspace, mode in workspaces]
    wanted = dict.fromkeys(text for part in parts for some in part for text in some)
    distinct = sorted(
        wanted, key=len, reverse=True
    )  # those of one length stand together, however they are cut
    vectors = np.empty((len(distinct), embedder.dimension), np.float32)
    done, size = 0, _PART
    while done < len(distinct):
        start, part_ = perf_counter(), distinct[done : done + size]
        vectors[done : done + len(part_)] = embedder.encode(part_)
        done += len(part_)
        size = max(round(len(part_) * _EVERY / max(perf_counter() - start, 1e-6)), _LEAST)
        if on_share is not None and done < len(distinct):
            on_share(done / len(distinct))
    number = {text: n for n, text in enumerate(distinct)}
    for part in parts:
        passages, pairs, facts, phrases = (vectors[[number[text] for text in some]] for some in part)
        yield Vectors(passages, pairs, facts, dict(zip(part[3], phrases, strict=True)))


def texts(workspace: Workspace, mode: Mode) -> tuple[list[str], list[str], list[str], list[str]]:
    """What is embedded of a workspace: its passages, where they do not stand in the memory, its pairs,
    propositions and phrases."""
    return (
        [] if mode == "renew" else [p.full_text for p in workspace.document.passages],
        [pair.text for phrase in workspace.verb_phrases for pair in phrase.pairs],
        [fact.text for fact in workspace.propositions],
        list(dict.fromkeys(phrase.phrase for phrase in workspace.verb_phrases)),
    )
