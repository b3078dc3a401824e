"""Chains for people: hop by hop, and what else was considered on the way."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.output import counted
from gsw_graph.explore.notebook import compares as compares
from gsw_graph.explore.notebook import sure as sure
from gsw_graph.explore.notebook import why_not as why_not
from gsw_graph.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, Candidate, Chain, Hop, HopTrace

CANDIDATES = 8  # of a concrete question; the JSON has all
_LONG = 200  # characters of a question or an answer


def print_chains(answer: Answer) -> None:
    """The best chain; of a plan with several ends, the best to each."""
    ends: dict[int, Chain] = {}
    for chain in answer.chains:
        ends.setdefault(chain.hops[-1].step, chain)
    for _, chain in ends.items() if answer.answer is not None else sorted(ends.items()):
        click.echo("Nearest chain:" if answer.abstained else f"Chain, score {chain.score:.2f} of 1:")
        for hop in chain.hops:
            click.echo(f"{hop.step}. {_hop(hop)}")
        click.echo()


def print_plan(plan: Sequence[Mapping[str, Any]]) -> None:
    """A plan that the language model made, as it can be edited and given back with --plan."""
    click.echo("Plan of the language model:")
    for step in plan:
        click.echo(
            f"  #{step['id']}  "
            f"{_short(str(step['question']))}{'' if step.get('retrieve', True) else '  (compares)'}"
        )
    click.echo(f"  --plan {shlex.quote(json.dumps(plan, ensure_ascii=False))}")


def print_way(asked: Iterable[HopTrace]) -> None:
    """The beams hop by hop, a line each: what was asked, and how much of what was found went on."""
    for one in asked:
        kept = [candidate for candidate in one.candidates if candidate.fate == "kept"]
        best = f", the best: {_short(', '.join(kept[0].qa.answers))}" if kept and kept[0].qa.answers else ""
        instead = "; nothing was found, so the whole question was asked" if one.fallback else ""
        went = f"{len(kept):,} of {counted(len(one.candidates), 'candidate')} kept{best}{instead}"
        click.echo(f"Step {one.step} asked: {_short(one.concrete_question)}  ({went})")


def print_candidates(asked: Iterable[HopTrace]) -> None:
    """The beams hop by hop: what was asked, and what became of each candidate."""
    for one in asked:
        instead = (
            "  (nothing was found for this step, so the whole question was asked)" if one.fallback else ""
        )
        click.echo(f"\nStep {one.step} asked: {_short(one.concrete_question)}{instead}")
        shown = _shown(one.candidates)
        for candidate in shown:
            click.echo(f"  {candidate.score:.2f}  {_candidate(candidate)}")
        if not one.candidates:
            click.echo("  no candidates")
        elif more := len(one.candidates) - len(shown):
            click.echo(f"  and {counted(more, 'candidate')} more; --json lists all")


def _shown(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best, in their order, but none that was kept is left out for one that was not."""
    kept = [n for n, candidate in enumerate(candidates) if candidate.fate == "kept"][:CANDIDATES]
    others = [n for n in range(len(candidates)) if n not in kept]
    return [candidates[n] for n in sorted([*kept, *others[: CANDIDATES - len(kept)]])]


def _hop(hop: Hop) -> str:
    questions = dict.fromkeys([_short(hop.question), _short(hop.concrete_question)])
    return f"{' -> '.join(questions)} -> {_short(hop.answer)}  {hop.score:.2f} ({_ways(hop.via)})"


def _candidate(candidate: Candidate) -> str:
    answers = _short(", ".join(candidate.qa.answers)) or "no answer"
    return (
        f"{_short(candidate.qa.question)} -> {answers}  ({_ways(candidate.via)}): {one_line(candidate.fate)}"
    )


def _ways(via: Iterable[str]) -> str:
    return one_line(", ".join(via))


def _short(text: str) -> str:
    return cut(one_line(text), _LONG)
