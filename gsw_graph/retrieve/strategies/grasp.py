"""The strategy `grasp`: GRASP (Jenkins 2026), agents that search facts; docs/grasp.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import GraspRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, recipe: GraspRecipe) -> Retrieved:
    """Plan, ask every sub-question by an agent of its own, and put together what they found."""
    from gsw_graph.retrieve.agents.agent import Team
    from gsw_graph.retrieve.grasp.planner import planned
    from gsw_graph.retrieve.grasp.scheduler import findings
    from gsw_graph.retrieve.grasp.synthesis import answered, ranked

    team = Team(context)
    plan, unplanned = planned(team.agent("planner"), query.question)
    found = findings(team, plan, recipe)
    failed = [f"sub-question {id_}: {one.failed}" for id_, one in found.items() if one.failed]
    draft, unjoined = None, None
    if query.answer:
        agent, model = team.agent("synthesis"), context.used["llm"]
        draft, unjoined = answered(agent, model, query.question, plan, found, context.on_text)
    note = "; ".join(filter(None, [unplanned, *failed, unjoined])) or None
    return Retrieved(ranked(found, query.k), draft=draft, plan=plan, note=note)


GRASP = Strategy(
    "grasp",
    "GRASP: an agent for each sub-question searches facts and follows names; needs a language model",
    run,
    GraspRecipe(),
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
