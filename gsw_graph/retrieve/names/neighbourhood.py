"""The graph of names as the walks of one question need it: the whole, which the client holds, or, of a memory
too large for that, the neighbourhood of what was asked so far, fetched by one bounded query a level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gsw_graph.retrieve.names.graph import NameGraph, build
from gsw_graph.retrieve.names.linking import mentions

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.passages import Near
    from gsw_graph.retrieve.recipes import WalkRecipe
    from gsw_graph.store.reader import NeighbourName

_SCAN = 500  # documents of a very common name that are looked at


def around(
    context: Context, asked: Sequence[str], recipe: WalkRecipe, nearest: int | None = None
) -> tuple[NameGraph, list[Near]]:
    """The graph of names around some questions, and the passages near each with their cosine. nearest: how
    many of these, by default as the recipe has it."""
    vectors = context.vectors(asked)
    embeddings = [vectors[question].tolist() for question in asked]
    most = recipe.nearest if nearest is None else nearest
    if context.held_by_client:
        with context.clock("database"):
            found = context.reader.nearest(embeddings, most)
            return context.names.of(found.version), list(found.passages)
    if context.neighbourhood is None:
        context.neighbourhood = Neighbourhood(context.names.size)
    near = context.neighbourhood.near(context, dict(zip(asked, embeddings, strict=True)), recipe, most)
    with context.clock("rank"):
        return context.neighbourhood.graph, near


class Neighbourhood:
    """What was fetched for one question: it grows with every level of it. total: passages of the memory."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._near: dict[tuple[str, int], Near] = {}
        self._seen: set[str] = set()
        self._passages: dict[str, tuple[list[str], list[bool | None]]] = {}
        self._names: dict[str, NeighbourName] = {}
        self._graph: NameGraph | None = None

    def near(
        self, context: Context, asked: Mapping[str, list[float]], recipe: WalkRecipe, nearest: int
    ) -> list[Near]:
        """The passages near some questions, given with their vectors; what is around those that are new is
        fetched, but for what an earlier one has brought."""
        new = [question for question in asked if (question, nearest) not in self._near]
        if new:
            with context.clock("database"):
                found = context.reader.neighbourhood(
                    [asked[question] for question in new],
                    sorted({mention.key for question in new for mention in mentions(question)}),
                    seen=sorted(self._seen),
                    known=list(self._passages),
                    near=nearest,
                    best=recipe.best,
                    cap=recipe.cap,
                    scan=_SCAN,
                    limit=max(recipe.limit, nearest * len(new)),
                )
            self._near.update(zip(((question, nearest) for question in new), found.near, strict=True))
            self._seen.update(found.seeds)
            self._passages.update(found.passages)
            self._names.update((one.id, one) for one in found.names)
            self._graph = None
        return [self._near[question, nearest] for question in asked]

    @property
    def graph(self) -> NameGraph:
        """The graph of all that was fetched."""
        if self._graph is None:
            names = self._names.values()
            aliases = {one.id: one.canonical for one in names if one.id != one.canonical}
            frequency: Counter[str] = Counter()
            for one in names:
                frequency[one.canonical] += one.frequency
            rows = ((passage, *found) for passage, found in self._passages.items())
            self._graph = build(rows, aliases=aliases, total=self._total, frequency=frequency)
        return self._graph
