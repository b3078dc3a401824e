"""The strategy `pathwise`: the intent of a question chooses a strategy, a network of sub-problems is
followed by paths, and what they find is put together (PathwiseRAG, algorithm 1). docs/pathwise.md.

What departs from the paper, and why, stands in the files of `retrieve/pathwise/`: its trained modules are
not public.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.errors import ReplyError
from gsw_graph.retrieve.agents.agent import Team
from gsw_graph.retrieve.agents.spoken import Spoken
from gsw_graph.retrieve.recipes import PathwiseRecipe
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pathwise.intent import Intent


def run(context: Context, query: Query, recipe: PathwiseRecipe) -> Retrieved:
    """Intent, selection, network, paths, integration; each step is in the trace. Where a language model is
    set it reads the intent, makes the plan of what is not simple, and follows the paths; where it fails at
    one of these, the rules do that."""
    from gsw_graph.retrieve.pathwise.explore import contradictions, explore
    from gsw_graph.retrieve.pathwise.guided import Guided
    from gsw_graph.retrieve.pathwise.integration import without_duplicates
    from gsw_graph.retrieve.pathwise.network import network_from, network_of
    from gsw_graph.retrieve.pathwise.selection import select

    team, notes = Team(context), list[str]()
    intent = _intent(team, query, notes)
    scores = select(intent, recipe)
    team.agent("selection").note("selection", intent.words(), "; ".join(score.words() for score in scores))
    chosen = scores[0].approach
    plan = query.plan or (_plan(team, query, notes) if context.llm and chosen != "dense precision" else None)
    network = network_from(plan) if plan else network_of(query.question, intent, chosen)
    if context.llm is None:
        found = explore(team, query, network, recipe)
    else:
        judged = intent.sides is not None or (plan is not None and not plan.steps[-1].retrieve)
        found = Guided(team, query, recipe, judged, notes).follow(network)
    passages = without_duplicates(found.passages, recipe.duplicate)
    return replace(
        found,
        passages=passages,
        conflicts=contradictions(team, passages),
        plan=None if query.plan else plan,
        note="; ".join(dict.fromkeys(notes)) or found.note,
        ran=None,
    )


def by_rules(context: Context, query: Query, recipe: PathwiseRecipe) -> Retrieved:
    """The same without a language model, and without a plan, whatever is set."""
    from gsw_graph.retrieve.pathwise.explore import explore
    from gsw_graph.retrieve.pathwise.intent import intent_of
    from gsw_graph.retrieve.pathwise.network import network_of
    from gsw_graph.retrieve.pathwise.selection import select

    team, intent = Team(context), intent_of(query.question)
    approach = select(intent, recipe)[0].approach
    return explore(team, query, network_of(query.question, intent, approach), recipe)


def _intent(team: Team, query: Query, notes: list[str]) -> Intent:
    from gsw_graph.retrieve.pathwise.intent import intent_of
    from gsw_graph.retrieve.pathwise.intent_model import intent_by_model

    agent, intent = team.agent("intent"), intent_of(query.question)
    if team.context.llm is not None:
        try:
            return intent_by_model(agent, query.question, intent)
        except ReplyError as error:
            notes.append(f"rules read the intent: {error}")
    agent.note("intent", query.question, intent.words())
    return intent


def _plan(team: Team, query: Query, notes: list[str]) -> Plan | None:
    """The plan of the language model, or None for that of the rules."""
    from gsw_graph.plan.decompose import decompose

    model = team.context.llm.model if team.context.llm else ""
    agent = Spoken(team.agent("network"), model, query.question, _steps)
    try:
        return decompose(query.question, agent)
    except ReplyError as error:
        notes.append(f"rules made the network: {error}")
    return None


def _steps(plan: Plan) -> str:
    return " ".join(f"({step.id}) {step.question}" for step in plan.steps)


PATHWISE = Strategy(
    "pathwise",
    "the intent of a question chooses how it is searched: one fact, a chain, the sides of a comparison or an "
    "order in time; paths that a language model, where one is set, follows side by side",
    run,
    PathwiseRecipe(),
    follows_plan=True,
    makes_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=FUSION.confidence,
)
