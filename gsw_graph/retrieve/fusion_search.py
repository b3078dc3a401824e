"""The strategy `fusion`: `linked` and chains together, with a plan and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve import linked as walks
from gsw_graph.retrieve.fusion import BEST, Answered, bridges
from gsw_graph.store.rows import unpacked

if TYPE_CHECKING:
    from gsw_graph.retrieve.linked import Linked
    from gsw_graph.retrieve.strategies import Search

_ASK = 0.5  # weight of the question with the best answer in it, where the question alone has 1
_NEAREST = 30  # passages near it


def walk_twice(search: Search, question: str, k: int, *, trace: bool) -> Linked:
    """Walks as `linked` does, takes the answers that its best passages offer, and walks once more from the question and from the question with each of them."""
    embedding = search.embed(question)
    vector = search.vectors([question])[question]
    with search.clock("database"):
        nearest = search.reader.nearest([embedding], walks.NEAREST)
        graph = search.names.of(nearest.version)
    with search.clock("rank"):
        first = walks.retrieve(graph, question, nearest.passages[0], max(k, BEST), trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[:BEST]
    with search.clock("database"):
        row = search.reader.run("read/pairs_of", passages=[passage for passage, _ in best])[0]
    with search.clock("rank"):
        pairs = [Answered(answers, passage, n) for n, (answers, passage) in enumerate(zip(row["answers"], row["passages"], strict=True))]
        found = bridges(graph, question, vector, best, pairs, unpacked(row["vectors"]))
    if not found:
        return first
    vectors = search.vectors([bridge.question for bridge in found])
    with search.clock("database"):
        near = search.reader.nearest([vectors[bridge.question].tolist() for bridge in found], _NEAREST)
    asked = [(question, nearest.passages[0]), *zip((bridge.question for bridge in found), near.passages, strict=True)]
    with search.clock("rank"):
        return walks.retrieve_together(graph, asked, k, weights=[1.0, *(_ASK * bridge.weight for bridge in found)], trace=trace)
