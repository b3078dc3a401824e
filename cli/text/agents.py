"""Agents for people: a tree of who asked what, what ran, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.text.output import counted, duration
from gsw_graph.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from gsw_graph.model.results import AgentStep, Answer

_LONG = 300  # characters of what was asked or found; the JSON has all


def print_steps(screen: Console, answer: Answer) -> None:
    """The steps of an answer's trace: a branch an agent, in the order in which they began to speak."""
    from rich.text import Text
    from rich.tree import Tree

    steps = answer.trace.steps if answer.trace is not None else []
    root = Tree(Text(f"{one_line(answer.strategy)}: {_sum(steps)}"))
    branches: dict[str, Tree] = {}
    for step in steps:
        if step.agent not in branches:
            own = [one for one in steps if one.agent == step.agent]
            branches[step.agent] = root.add(Text(f"{one_line(step.agent)}  ({_sum(own)})", "bold"))
        _add(branches[step.agent], step)
    screen.print(root)
    click.echo()


def _add(branch: Tree, step: AgentStep) -> None:
    from rich.text import Text

    asked = cut(one_line(step.asked), _LONG)
    leaf = branch.add(Text.assemble((f"{one_line(step.stage)}: ", "bold"), asked))
    if step.failed is not None:
        leaf.add(Text(f"failed: {cut(one_line(step.failed), _LONG)}", "red"))
    elif step.found:
        leaf.add(Text(cut(one_line(step.found), _LONG)))
    ran = [", ".join(step.statements)] if step.statements else []
    ran += [_tokens(step.tokens)] if step.tokens else []
    if ran:
        leaf.add(Text(f"{'; '.join(ran)}; {duration(step.seconds)}", "dim"))


def _sum(steps: list[AgentStep]) -> str:
    tokens = {name: sum(step.tokens.get(name, 0) for step in steps) for name in ("in", "out")}
    asked = sum(1 for step in steps if step.tokens)
    calls = f", {counted(asked, 'call')}, {_tokens(tokens)}" if asked else ""
    return f"{counted(len(steps), 'step')}{calls}"


def _tokens(tokens: dict[str, int]) -> str:
    return f"{tokens.get('in', 0):,} tokens in, {tokens.get('out', 0):,} out"
