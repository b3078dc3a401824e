"""Chains of question-answer pairs: a hop is a pair, the name that answers it, and its passage below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.picture.answers import QUESTION, name_node, passage_node, saying
from gsw_graph.picture.picture import stand_behind

if TYPE_CHECKING:
    from gsw_graph.picture.picture import Node, Picture
    from gsw_graph.results import Answer, Hop

CHAINS = 3  # more would hide the best
_REFERENCE = re.compile(r"#(\d+)")


def draw_chains(picture: Picture, answer: Answer) -> list[Node]:
    """Draw the best chains, the best of all last to fade; the names that it ends in."""
    shown = answer.chains[:CHAINS]
    asked: dict[int, list[str]] = {}  # by column
    ends: list[Node] = []
    for rank, chain in enumerate(shown):
        said: dict[int, Node] = {}  # the answer to each step
        led_on: set[int] = set()
        for hop in chain.hops:
            before = [int(n) for n in _REFERENCE.findall(hop.question) if int(n) in said]
            led_on.update(before)
            pair, name = _hop(picture, hop, [said[n] for n in before], faint=rank > 0)
            said[hop.step] = name
            questions = asked.setdefault(pair.column or 0, [])
            questions += [hop.question] if hop.question not in questions else []
        if not rank:
            ends = [name for step, name in said.items() if step not in led_on]
    for number, column in enumerate(sorted(asked), 1):
        picture.columns += [""] * (column - len(picture.columns))
        picture.columns.append(f"Hop {number}: {' / '.join(asked[column])}")
    if len(answer.chains) > len(shown):
        picture.notes.append(f"The best {len(shown)} of {len(answer.chains)} chains are drawn.")
    return ends


def _hop(picture: Picture, hop: Hop, before: list[Node], *, faint: bool) -> tuple[Node, Node]:
    """A hop after the names that it builds on: its pair and the name that answers it."""
    behind = saying(picture, hop.passage, hop.qa.question, hop.answer)
    sources = before or [picture.nodes[QUESTION]]
    column = max(source.column or 0 for source in sources) + 1
    pair = picture.node(f"pair:{hop.step}:{hop.qa.id}", "QAPair", hop.qa.question, column, faint=faint)
    stand_behind(pair, behind)
    pair.lines = [
        ("Asked", hop.concrete_question),
        ("Answer", "; ".join(hop.qa.answers)),
        ("Score", f"{hop.score:.2f}, found by {', '.join(hop.via)}"),
    ]
    for source in sources:
        picture.edge(source.id, pair.id, behind=behind, faint=faint)
    name = name_node(picture, hop.answer, column + 1, pair.id, faint=faint)
    stand_behind(name, behind)
    picture.edge(pair.id, name.id, "answer", behind, faint=faint)
    passage = passage_node(picture, hop.passage, column, faint=faint)
    picture.edge(pair.id, passage.id, "stands in", behind, faint=faint)
    return pair, name
