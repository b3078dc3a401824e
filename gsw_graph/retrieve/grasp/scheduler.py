"""The scheduler of GRASP: the sub-questions whose answers wait for no other are asked side by side, one
sub-agent each, then those that waited for these.

Ours: a sub-question that waits for an insufficient one is asked with what was not found in its words, "Where
was (who built the Stone Pier) born?": its search may find both. One that waits for such a one, and that found
nothing either, is skipped: nothing of it is known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.errors import ReplyError
from gsw_graph.retrieve.agents.side_by_side import side_by_side
from gsw_graph.retrieve.grasp.sub_agent import Finding, find

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.plan import Plan, SubQuestion
    from gsw_graph.retrieve.agents.agent import Team
    from gsw_graph.retrieve.recipes import GraspRecipe


def findings(team: Team, plan: Plan, recipe: GraspRecipe) -> dict[int, Finding]:
    """What each sub-question found, by its id. Errors as of `side_by_side`."""
    found: dict[int, Finding] = {}
    blind: set[int] = set()  # asked without an answer that they wait for
    for level in plan.levels():
        tasks: dict[int, Callable[[], Finding]] = {}
        for step in level:
            agent, question = team.agent(f"sub-question {step.id}"), _concrete(step, found)
            unknown = [parent for parent in step.parents if found[parent].answer is None]
            if unknown:
                blind.add(step.id)
            if blind.intersection(unknown):
                agent.note("skip", question, "", "nothing that it waits for is known")
                found[step.id] = Finding(question)
            else:
                tasks[step.id] = partial(find, agent, question, recipe)
        for id_, result in zip(tasks, side_by_side(team, list(tasks.values())), strict=True):
            if isinstance(result, ReplyError):
                result = Finding(plan.steps[id_ - 1].question, failed=str(result))
            found[id_] = result
    return found


def _concrete(step: SubQuestion, found: dict[int, Finding]) -> str:
    """The sub-question with answers, or with what is not known in words, in the place of `#k`."""
    said = {
        id_: one.answer if one.answer is not None else f"({one.question.rstrip(' ?')})"
        for id_, one in found.items()
    }
    return step.concrete(said)
