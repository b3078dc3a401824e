"""What agents found, sub-question by sub-question."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from gsw_graph.picture.answers import QUESTION, passage_node
from gsw_graph.picture.picture import stand_behind

if TYPE_CHECKING:
    from gsw_graph.picture.picture import Node, Picture
    from gsw_graph.results import AgentStep, Answer, Trace

_NUMBERED = re.compile(r"^sub-question (\d+)$")
_REFERENCE = re.compile(r"#(\d+)")
_WORD = re.compile(r"\w+")


def draw_steps(picture: Picture, answer: Answer, trace: Trace) -> list[Node]:
    """An agent that searched is a sub-question and what it found; one after another, or as the plan says."""
    plan = {step["id"]: str(step["question"]) for step in answer.plan or ()}
    found: dict[int, Node] = {}
    led_on: set[int] = set()
    previous: Node = picture.nodes[QUESTION]
    free: list[Node] = []
    searches = _searches(trace)
    behind = _cited(answer, [steps for _, steps in searches])
    for number, (agent, steps) in enumerate(searches, 1):
        numbered = _NUMBERED.match(agent)
        own = int(numbered[1]) if numbered else 0
        before = [int(n) for n in _REFERENCE.findall(plan.get(own, "")) if int(n) in found]
        led_on.update(before)
        sources = [found[n] for n in before] or [picture.nodes[QUESTION] if own else previous]
        node = _finding(picture, number, steps, sources, behind[number - 1])
        if own:
            found[own] = node
        elif agent.startswith("path"):
            free.append(node)
        else:
            previous = node
    last = max(node.column or 0 for node in picture.nodes.values())
    picture.columns = ["", *("Asked" if column % 2 else "Found" for column in range(1, last + 1))]
    ends = [node for number, node in found.items() if number not in led_on] + free
    return ends or ([previous] if previous.id != QUESTION else [])


def _searches(trace: Trace) -> list[tuple[str, list[AgentStep]]]:
    """The steps of each agent that came upon passages, in the order in which agents began. One that searches
    again and again (`reasoning`) is a finding for every search."""
    by_agent: dict[str, list[AgentStep]] = {}
    for agent, steps in groupby(trace.steps, key=lambda step: step.agent):
        by_agent.setdefault(agent, []).extend(steps)
    found = []
    for agent, its in by_agent.items():
        searches = [n for n, step in enumerate(its) if step.passages]
        if _NUMBERED.match(agent) or agent.startswith("path"):
            found += [(agent, its)] if searches else []
        else:
            ends = [*searches[1:], len(its)]
            found += [(agent, its[begin:end]) for begin, end in zip(searches, ends, strict=False)]
    return found


def _found(steps: list[AgentStep]) -> str:
    """What came of a search, in the words of the model where it said something."""
    said = [step for step in steps if not step.failed and step.found]
    worded = [step for step in said if step.tokens] or said
    return worded[-1].found if worded else "nothing"


def _cited(answer: Answer, searches: list[list[AgentStep]]) -> list[dict[str, list[str]]]:
    """For each search the passages behind it: a cited one belongs to the finding whose words it shares most,
    among the searches that came upon it. Where nothing is cited, the best that it came upon."""
    behind: list[dict[str, list[str]]] = [{} for _ in searches]
    seen = [{passage for step in steps for passage in step.passages} for steps in searches]
    for one in answer.citations:
        words = set(_WORD.findall(one.text.casefold()))
        shares = [
            len(words.intersection(_WORD.findall(_found(steps).casefold()))) if one.passage in its else -1
            for steps, its in zip(searches, seen, strict=True)
        ]
        if max(shares, default=-1) >= 0:
            behind[shares.index(max(shares))].setdefault(one.passage, []).append(one.text)
    for its, mine in zip(seen, behind, strict=True):
        best = next((passage.id for passage in answer.passages if passage.id in its), None)
        if best and not mine and not answer.citations:
            mine[best] = []
    return behind


def _finding(
    picture: Picture, number: int, steps: list[AgentStep], sources: list[Node], behind: dict[str, list[str]]
) -> Node:
    """A sub-question after what it builds on, its finding, and the passages of that."""
    column = max(source.column or 0 for source in sources) + 1
    asked = picture.node(f"asked:{number}", "Sub-question", steps[0].asked, column)
    finding = picture.node(f"found:{number}", "Finding", _found(steps), column + 1)
    for node in (asked, finding):
        stand_behind(node, behind)
    for step in steps:
        text = f"failed: {step.failed}" if step.failed else step.found
        finding.lines.append((step.stage.replace("_", " "), text))
    for source in sources:
        picture.edge(source.id, asked.id, "then", behind)
    picture.edge(asked.id, finding.id, "found", behind)
    for passage, sentences in behind.items():
        picture.edge(
            finding.id, passage_node(picture, passage, column + 1).id, "stands on", {passage: sentences}
        )
    return finding
