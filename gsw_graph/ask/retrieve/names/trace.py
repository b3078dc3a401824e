"""Write into a trace how a walk came to its passages."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from gsw_graph.model.results import RankedPassage, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.model.results import Trace


def write_walk(
    context: RetrievalContext,
    trace: Trace,
    result: WalkResult,
    passages: Sequence[RankedPassage],
    *,
    twice: bool,
) -> None:
    """Write names linked, seeds, and the strongest path to each passage.

    Args:
        context: Context of the question.
        trace: The trace that is written to.
        result: The walk. If a passage occurs twice, its last path counts.
        passages: Passages of the answer.
        twice: Whether it is the second walk of `fusion`.
    """
    shown = {passage.id for passage in passages}
    ways = zip(result.passages, result.paths, strict=True)
    paths = {id_: path for id_, path in ways if id_ in shown}
    nodes = {node for path in paths.values() for node in path}
    known = [*context.neighbourhood.texts.values(), *passages]
    labels = {passage.id: _label(passage) for passage in known}
    unknown = sorted(nodes - labels.keys())
    with context.clock("database"):
        names = context.reader.concept_names(unknown)
        others = [node for node in unknown if node not in names]
        if others:
            for passage in context.reader.passages(others, [0.0] * len(others)):
                labels[passage.id] = _label(passage)

    def step(node: str) -> Step:
        if node in labels:
            return Step("passage", node, labels[node])
        return Step("name", node, names.get(node, node))

    linked = dict.fromkeys(result.mentions)
    trace.linked = [{"text": mention.text, "concept": mention.key} for mention in linked]
    trace.seeds = seed_weights(result.seeds)
    # No path leads to a passage that its vector brought. An artificial name leads from a passage to itself.
    for passage in passages:
        path = paths.get(passage.id, [])
        trace.paths[passage.id] = [step(node) for node, _ in groupby(path)]
    trace.walked = "twice" if twice else "neighbourhood"
    trace.passages_walked = result.walked


def _label(passage: RankedPassage) -> str:
    return passage.title or passage.text[:60]


def seed_weights(weights: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return concepts with their seed weights, in the form of `Trace.seeds`."""
    return [{"concept": name, "weight": round(weight, 6)} for name, weight in weights]
