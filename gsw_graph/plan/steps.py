"""What a plan is: sub-questions, which of them wait for which, and in what order they can be asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from gsw_graph.errors import InputError

MOST_STEPS = 20

# No letter or digit on either side: C#, #MeToo and #4chan are text.
_REFERENCE = re.compile(r"(?<![^\W_])#([0-9]+)(?![^\W_])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One step of a plan. `#k` in its question stands for the answer of step k; nothing is retrieved for a
    step that only compares."""

    id: int
    question: str
    retrieve: bool = True

    @property
    def parents(self) -> tuple[int, ...]:
        """The ids of the steps whose answers it needs, each once, ascending."""
        return tuple(sorted({int(number) for number in _REFERENCE.findall(self.question)}))

    def concrete(self, answers: Mapping[int, str]) -> str:
        """The question with every `#k` replaced by `answers[k]`; what an answer says stays as it is.
        KeyError: an answer is missing."""
        return rewrite(self.question, lambda id: answers[id])


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps with the ids 1 to n in their order, which can be asked level by level. InputError: they
    cannot, see `check`."""

    steps: tuple[SubQuestion, ...]

    def __post_init__(self) -> None:
        check(self.steps)
        if [step.id for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise InputError(
                "the steps of a plan have the ids 1 to n in their order",
                hint="gsw_graph.plan.parse numbers them",
            )

    def levels(self) -> tuple[tuple[SubQuestion, ...], ...]:
        """The steps to retrieve for: those that need nothing, then those that need only these, and so on."""
        return _levels([step for step in self.steps if step.retrieve])[0]

    def ancestors(self, id: int) -> frozenset[int]:
        """The ids of all steps that must be answered before step `id`. KeyError: there is no such step."""
        return ancestors({step.id: step.parents for step in self.steps}, id)

    @property
    def sinks(self) -> tuple[SubQuestion, ...]:
        """The steps to retrieve for whose answers no other such step needs: here the chains end."""
        steps = [step for step in self.steps if step.retrieve]
        needed = {parent for step in steps for parent in step.parents}
        return tuple(step for step in steps if step.id not in needed)

    def to_list(self) -> list[dict[str, object]]:
        """The plan as JSON has it; `parse` gives the same plan back."""
        return [
            {"id": step.id, "question": step.question} | ({} if step.retrieve else {"retrieve": False})
            for step in self.steps
        ]


def rewrite(question: str, put: Callable[[int], str]) -> str:
    """The question with `put(k)` in the place of every `#k`, in one pass."""
    return _REFERENCE.sub(lambda match: put(int(match[1])), question)


def check(steps: Sequence[SubQuestion]) -> None:
    """InputError: steps with any ids are no plan, because of their number, a blank question, an id twice,
    or a reference that cannot be followed."""
    check_number(len(steps))
    by_id: dict[int, SubQuestion] = {}
    for step in steps:
        if step.id in by_id:
            raise InputError(f"two steps have the id {step.id}", hint="Give each step its own")
        if not step.question.strip():
            raise InputError(f"step {step.id} has no question", hint="Write one or leave the step out")
        by_id[step.id] = step
    for step in steps:
        _check_references(step, by_id)
    if rest := _levels(steps)[1]:
        cycle = " -> ".join(map(str, _cycle(rest)))
        raise InputError(
            f"steps wait for each other's answers in a circle: {cycle}",
            hint="Take one of these references out",
        )
    if not any(step.retrieve for step in steps):
        raise InputError(
            "no step of the plan retrieves anything",
            hint="At least one must not be marked as retrieve: false",
        )


def check_number(steps: int) -> None:
    """InputError: a plan of no steps, or of too many."""
    if not steps:
        raise InputError("the plan is empty", hint="Give it at least one question")
    if steps > MOST_STEPS:
        raise InputError(
            f"the plan has {steps} steps, more than the {MOST_STEPS} that are allowed",
            hint="Split the question",
        )


def _check_references(step: SubQuestion, by_id: Mapping[int, SubQuestion]) -> None:
    for parent in step.parents:
        if parent not in by_id:
            raise InputError(
                f"step {step.id} refers to #{parent}, and there is no step {parent}", hint=_not_meant(parent)
            )
        if parent == step.id:
            raise InputError(f"step {step.id} refers to itself", hint=_not_meant(parent))
        # To ask on with the bare "#k" would search for nothing, and quietly.
        if not by_id[parent].retrieve:
            raise InputError(
                f"step {step.id} needs the answer of step {parent}, which has none because nothing is "
                "retrieved for it",
                hint=f"Retrieve for step {parent}, or refer to the steps that it compares",
            )


def _not_meant(id: int) -> str:
    """The hint where a reference may be no reference."""
    return f'Refer to another step, or write "number {id}" if no step is meant'


def _levels(steps: Sequence[SubQuestion]) -> tuple[tuple[tuple[SubQuestion, ...], ...], list[SubQuestion]]:
    """The levels in which steps can be taken, and the steps that a cycle holds up."""
    levels: list[tuple[SubQuestion, ...]] = []
    done: set[int] = set()
    rest = list(steps)
    while level := tuple(step for step in rest if done.issuperset(step.parents)):
        levels.append(level)
        done.update(step.id for step in level)
        rest = [step for step in rest if step.id not in done]
    return tuple(levels), rest


def _cycle(held_up: Sequence[SubQuestion]) -> list[int]:
    """The ids along one cycle, the first of them again at the end. Each step held up has a parent that is
    held up too."""
    parents = {step.id: step.parents for step in held_up}
    path = [held_up[0].id]
    while path[-1] not in path[:-1]:
        path.append(next(parent for parent in parents[path[-1]] if parent in parents))
    cycle = path[path.index(path[-1]) : -1]
    first = cycle.index(next(id for id in parents if id in cycle))
    return [*cycle[first:], *cycle[: first + 1]]


def ancestors(parents: Mapping[int, Collection[int]], id: int) -> frozenset[int]:
    """All that stands above `id`, where each has its parents. KeyError: there is no such id."""
    found: set[int] = set()
    waiting = [*parents[id]]
    while waiting:
        parent = waiting.pop()
        if parent not in found:
            found.add(parent)
            waiting += parents[parent]
    return frozenset(found)
