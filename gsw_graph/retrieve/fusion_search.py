"""The strategy `fusion`: `linked` and chains together, with a plan and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve import fusion
from gsw_graph.retrieve import linked as walks
from gsw_graph.store.rows import unpacked

if TYPE_CHECKING:
    from gsw_graph.retrieve.linked import Linked
    from gsw_graph.retrieve.strategies import Search

_NEAREST = 30  # passages near the question with answers in it


def walk_twice(search: Search, question: str, k: int, *, trace: bool) -> tuple[Linked, list[str] | None]:
    """Walks as `linked` does, takes the answers that its best passages offer, and walks once more from the question and from the question with these in it;
    what the last walk found, and these answers, None where the best passages have no pairs at all."""
    embedding = search.embed(question)
    vector = search.vectors([question])[question]
    with search.clock("database"):
        nearest = search.reader.nearest([embedding], walks.NEAREST)
        graph = search.names.of(nearest.version)
    with search.clock("rank"):
        first = walks.retrieve(graph, question, nearest.passages[0], max(k, fusion.BEST), trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: fusion.BEST]
    with search.clock("database"):
        row = search.reader.run("read/pairs_of", passages=[passage for passage, _ in best])[0]
    with search.clock("rank"):
        pairs = [fusion.Answered(answers, passage, n) for n, (answers, passage) in enumerate(zip(row["answers"], row["passages"], strict=True))]
        found = fusion.bridges(graph, question, vector, best, pairs, unpacked(row["vectors"]))
    if not found:
        return first, [] if pairs else None
    further = " ".join([question, *found])
    embedding = search.embed(further)
    with search.clock("database"):
        near = search.reader.nearest([embedding], _NEAREST)
    with search.clock("rank"):
        asked = [(question, nearest.passages[0]), (further, near.passages[0])]
        return walks.retrieve_together(graph, asked, k, weights=[1.0, fusion.ASK], trace=trace), found
