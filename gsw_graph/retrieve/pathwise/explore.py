"""Paths explored without a language model: each end of the network searched for, what paths bring joined to
what the whole question finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.retrieve.pathwise.adjustment import adjusted
from gsw_graph.retrieve.pathwise.approaches import search, statements
from gsw_graph.retrieve.pathwise.integration import conflicts, merged
from gsw_graph.retrieve.pathwise.paths import paths_of

if TYPE_CHECKING:
    from gsw_graph.results import Claim, Conflict, RankedPassage
    from gsw_graph.retrieve.agents.agent import Team
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pathwise.network import Network, SubProblem
    from gsw_graph.retrieve.pathwise.paths import Path
    from gsw_graph.retrieve.recipes import PathwiseRecipe
    from gsw_graph.retrieve.strategy import Query, Retrieved


def explore(team: Team, query: Query, network: Network, recipe: PathwiseRecipe) -> Retrieved:
    """What the paths of a network find together. One that is made of a plan is followed whole: chains take
    all its paths at once."""
    if network.plan is not None:
        return find(team, "path 1", replace(query, plan=network.plan), network.problems[-1])
    if network.whole is None:
        return find(team, "path 1", query, network.problems[0])
    paths = chosen(team, query, network, recipe)
    documents = max(recipe.documents, query.k)
    found = [
        find(
            team, f"path {number}", replace(query, question=path.end.question, k=documents), path.end
        ).passages
        for number, path in enumerate(paths, 1)
    ]
    brought = adjusted(found, set(), documents, recipe.gain)
    for number, one in enumerate(brought, 1):
        team.agent(f"path {number}").note("adjust", paths[number - 1].end.question, one.words())
    whole = find(team, "whole question", replace(query, k=documents), network.whole)
    lists = [(recipe.whole, whole.passages), *((1.0, one.passages) for one in brought)]
    return replace(whole, passages=merged(lists, query.k, rank=recipe.rank, duplicate=recipe.duplicate))


def chosen(team: Team, query: Query, network: Network, recipe: PathwiseRecipe) -> list[Path]:
    """The paths that are followed."""
    vectors = team.context.vectors([query.question, *(one.question for one in network.problems)])
    paths = paths_of(network, query.question, vectors, recipe.paths)
    told = "; ".join(f"{path.end.id} (omega {path.omega:.2f})" for path in paths)
    team.agent("network").note("paths", network.words(), told)
    return paths


def find(team: Team, name: str, query: Query, problem: SubProblem) -> Retrieved:
    """Search for a sub-problem, as a step."""

    def passages(found: Retrieved) -> list[RankedPassage]:
        return found.passages

    return team.agent(name).search(
        problem.approach,
        query.question,
        lambda context: search(context, query, problem.approach),
        statements(team.context, query, problem.approach),
        passages,
    )


def contradictions(team: Team, found: list[RankedPassage]) -> list[Conflict]:
    """What the pairs of the passages say against each other; none where the memory has no pairs."""
    if not team.context.has_pairs or not found:
        return []
    titles = {passage.id: passage.title for passage in found}

    def run(context: Context) -> list[Conflict]:
        with context.clock("database"):
            return conflicts(context.reader.claims(list(titles)), titles)

    return team.agent("integration").search(
        "contradictions", "what passages say against each other", run, ["read/claims"], lambda _: [], said
    )


def said(found: list[Conflict]) -> str:
    """Contradictions in words."""
    return "; ".join(f"{one.question} {' / '.join(map(_claimed, one.claims))}" for one in found) or "nothing"


def _claimed(claim: Claim) -> str:
    return f"{claim.answer} ({claim.confidence:.0%}: {', '.join(claim.titles)})"
