"""How a walk came to its passages, for people: names linked, seeds, and the strongest path to each
passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gsw_graph.results import Step

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage, Trace
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.linking import Mention
    from gsw_graph.retrieve.names.passages import Walked


def write_walk(
    context: Context, trace: Trace, found: Walked, passages: Sequence[RankedPassage], over: str
) -> None:
    """Write a walk into a trace. over: what it went over, as `Trace.walked` has it."""
    titles = {passage.id: passage.title or passage.text[:60] for passage in passages}
    inner = {node for path in found.paths for node in path}
    others = [node for node in inner if node not in titles]
    with context.clock("database"):
        names = context.reader.concept_names(others)
        between = [node for node in others if node not in names]
        titles |= {
            p.id: p.title or p.text[:60] for p in context.reader.passages(between, [0.0] * len(between))
        }
    steps = {
        node: Step("passage", node, titles[node])
        if node in titles
        else Step("name", node, names.get(node, node))
        for node in inner
    }
    trace.linked, trace.seeds = linked(found.mentions), seeds(found.seeds)
    trace.paths = {
        p: [steps[node] for node in path] for p, path in zip(found.passages, found.paths, strict=True)
    }
    trace.walked, trace.passages_walked = over, found.walked


def linked(mentions: Sequence[Mention]) -> list[dict[str, str]]:
    """Names of the question with their concepts, as `Trace.linked` has them."""
    return [{"text": mention.text, "concept": mention.key} for mention in dict.fromkeys(mentions)]


def seeds(weights: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Concepts with their seed weights, as `Trace.seeds` has them."""
    return [{"concept": name, "weight": round(weight, 6)} for name, weight in weights]
