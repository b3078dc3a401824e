"""A question as a network of sub-problems (PathwiseRAG, equations 5 to 7): each with what it asks, what
kind it is and how it is searched for, and those that wait for others.

Ours: no classifier finds breakpoints and dependencies. A plan, given or of a language model, is the
network; without one a comparison has a sub-problem a side, a question bounded by time a chain beside what
is dated as it asks, a broad question one a clause or name, and any other is one sub-problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.plan import Plan
from gsw_graph.plan.steps import ancestors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.pathwise.intent import Intent
    from gsw_graph.retrieve.pathwise.selection import Approach

_CLAUSES = re.compile(r",?\s+(?:and|or)\s+(?=(?:who|what|when|where|which|how|why)\b)|[;?]\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SubProblem:
    """One question of the network. approach: how it is searched for. parents: ids of those whose answers it
    needs, as `#k` in its question."""

    id: int
    question: str
    approach: Approach
    parents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """Sub-problems in an order in which they can be asked. plan: where it was made of one. whole: the
    question itself, where that is asked too."""

    problems: tuple[SubProblem, ...]
    plan: Plan | None = None
    whole: SubProblem | None = None

    def ancestors(self, id: int) -> frozenset[int]:
        """Ids of all that must be answered before one."""
        return ancestors({problem.id: problem.parents for problem in self.problems}, id)

    @property
    def ends(self) -> tuple[SubProblem, ...]:
        """Those that no other waits for."""
        needed = {parent for problem in self.problems for parent in problem.parents}
        return tuple(problem for problem in self.problems if problem.id not in needed)

    def words(self) -> str:
        """The network in one line, for the trace."""
        return " | ".join(f"{problem.id}: {problem.question}" for problem in self.problems)


def network_of(question: str, intent: Intent, approach: Approach) -> Network:
    """The network by rules, where there is no plan."""
    if intent.sides is not None:
        return _several(intent.sides.questions, question, "comparative matrix")
    if approach == "temporal-ordered":
        return _several([question], question, approach)
    if approach == "multi-aspect" and len(aspects := _aspects(question, intent)) > 1:
        return _several(aspects, question, "deep chain")
    return Network((SubProblem(1, question, approach),))


def network_from(plan: Plan) -> Network:
    """The network of a plan: its steps that are searched for, level by level."""
    steps = [step for level in plan.levels() for step in level]
    return Network(
        tuple(SubProblem(step.id, step.question, "deep chain", step.parents) for step in steps), plan
    )


def _several(parts: Sequence[str], question: str, approach: Approach) -> Network:
    """Parts that are searched for as chains, and the question as a whole as its strategy does."""
    problems = tuple(SubProblem(number, part, "deep chain") for number, part in enumerate(parts, 1))
    return Network(problems, whole=SubProblem(0, question, approach))


def _aspects(question: str, intent: Intent) -> list[str]:
    """The clauses of a question that asks several things, each with the first name where it has none; else
    its names."""
    clauses = [clause.strip(" ?") for clause in _CLAUSES.split(question) if clause.strip(" ?")]
    if len(clauses) < 2:
        return list(intent.entities)
    about = intent.entities[0] if intent.entities else ""
    named = [
        clause if any(name in clause for name in intent.entities) else f"{clause} {about}"
        for clause in clauses
    ]
    return [f"{clause.strip()}?" for clause in named]
