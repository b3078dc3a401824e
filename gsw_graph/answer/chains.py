"""An answer from chains alone, with no language model: what the best chain ends in, or that the memory does not hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.answer.confidence import REFUSED_BELOW, confidence
from gsw_graph.answer.quote import quote
from gsw_graph.results import QA, Chain, Citation, Hop
from gsw_graph.retrieve.pair_score import words_of

if TYPE_CHECKING:
    from gsw_graph.retrieve import ricr
    from gsw_graph.retrieve.strategies import Found


@dataclass(frozen=True)
class Said:
    """What is answered, how sure that is, and what it stands on. Of a model also what is missing, and the `evidence` and `prompt` that it
    was sent, in tokens: see `answer.reader`."""

    answer: str | None = None
    source: str = "none"  # "llm", "chain" or "none"
    abstained: bool = False
    confidence: float | None = None
    citations: list[Citation] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)
    missing: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)


def from_chains(question: str, found: Found, *, answer: bool, strategy: str = "ricr") -> Said:
    """The answer of the best chain that reaches the last step of the plan. Where that step only compares, the chains are evidence and nothing is answered.
    strategy: whose chains they are.

    Without chains, abstained says whether anything was found at all.
    """
    if found.beams is None:
        return Said(abstained=not found.passages)
    beams = found.beams
    ends = beams.ends()
    sure = confidence([[hop.score for hop in chain.hops] for chain in ends], [chain.score for chain in ends], strategy)
    if ends and not beams.planned:
        sure *= coverage(question, ends[0]) ** 2
    lost = beams.planned and not beams.chains.get(beams.plan.sinks[-1].id)
    abstained = not ends or lost or sure < REFUSED_BELOW
    compares = not beams.plan.steps[-1].retrieve
    best = [chains[0] for sink in beams.plan.sinks if (chains := beams.chains.get(sink.id))] if beams.planned else ends[:1]
    hops = [hop for chain in best for hop in chain.hops if hop.pair.passage in found.cited]
    citations = [] if abstained else list(dict.fromkeys(_cited(hop, found) for hop in hops))
    chains_shown = [_shown(chain) for chain in ends]
    if not answer or compares or abstained:
        return Said(None, "none", abstained, sure, citations, chains_shown)
    return Said(ends[0].hops[-1].answer, "chain", False, sure, citations, chains_shown)


def coverage(question: str, chain: ricr.Chain) -> float:
    """The share of a question's words that a chain speaks of, in [0, 1]: without a plan one pair may answer a part of the question alone."""
    asked = words_of(question)
    spoken = {word for hop in chain.hops for text in (hop.pair.question, hop.pair.title, *hop.pair.answers) for word in words_of(text)}
    return len(asked & spoken) / len(asked) if asked else 0.0


def _shown(chain: ricr.Chain) -> Chain:
    return Chain(
        chain.score,
        [
            Hop(
                hop.step,
                hop.question,
                hop.concrete,
                hop.answer,
                QA(hop.pair.id, hop.pair.question, list(hop.pair.answers)),
                hop.pair.passage,
                hop.score,
                list(hop.ways),
            )
            for hop in chain.hops
        ],
    )


def _cited(hop: ricr.Link, found: Found) -> Citation:
    passage = found.cited[hop.pair.passage]
    return Citation(passage.id, passage.document, passage.title, passage.source, quote(passage.text, hop.pair.question, hop.answer))
