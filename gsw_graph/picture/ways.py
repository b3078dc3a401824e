"""Ways to passages without chains: names that a walk went over, propositions that follow one another, or
none, where vectors or words alone found them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.naming.connecting import connects
from gsw_graph.naming.finding import names
from gsw_graph.picture.answers import QUESTION, name_node, passage_node, saying
from gsw_graph.picture.picture import stand_behind

if TYPE_CHECKING:
    from gsw_graph.picture.picture import Node, Picture
    from gsw_graph.results import Answer, Fact, Step, Trace

FACT_PATHS = 3


def draw_walk(picture: Picture, answer: Answer, trace: Trace | None) -> list[Node]:
    """From the question over the names of each passage's strongest path; straight to it where there is
    none. Passages are no answers: nothing ends here."""
    paths = trace.paths if trace else {}
    linked = {one["concept"] for one in trace.linked} if trace else set()
    for rank, passage in enumerate(answer.passages, 1):
        path = paths.get(passage.id, [])
        common = [step.label for step in path if step.kind == "name" and not connects(step.label)]
        node = None if common else _walk(picture, path, linked, answer.question)
        if node is None:
            node = passage_node(picture, passage.id, 2 if paths else 1)
            behind = saying(picture, passage.id, answer.question)
            stand_behind(node, behind)
            picture.edge(QUESTION, node.id, "near", behind, faint=bool(common))
        if common:
            node.lines.append(
                ("Found over", f"{', '.join(common)}, which alone joins nothing and is not drawn")
            )
        node.caption = f"{rank}. {node.caption}"
        node.lines.append(("Rank", str(rank)))
    last = max(node.column or 0 for node in picture.nodes.values())
    heads = ("Passages", "Names") if paths else ("", "Passages")
    picture.columns = ["", *(heads[column % 2] for column in range(1, last + 1))]
    return []


def _walk(picture: Picture, path: list[Step], linked: set[str], question: str) -> Node | None:
    """Draw a path; its last passage."""
    before: Node = picture.nodes[QUESTION]
    passage = ""  # the last on the way
    for column, step in enumerate(path, 1):
        if step.kind == "name":
            node = name_node(picture, step.label, column, "")
            first = "named in the question" if step.id in linked else "near the question"
            behind = saying(picture, passage, question, step.label) if passage else {}
            picture.edge(before.id, node.id, "names" if passage else first, behind)
        else:
            node, passage = passage_node(picture, step.id, column), step.id
            behind = saying(picture, passage, question, before.caption)
            picture.edge(before.id, node.id, "stands in", behind)
            stand_behind(before, behind)
        stand_behind(node, behind)
        before = node
    return before if path and path[-1].kind == "passage" else None


def draw_facts(picture: Picture, answer: Answer, trace: Trace) -> list[Node]:
    """Propositions from left to right with the names that join them, each over its passage; last the
    passages that the walk after them found."""
    for rank, path in enumerate(trace.fact_paths[:FACT_PATHS]):
        before, said = picture.nodes[QUESTION], ""
        for number, fact in enumerate(path.propositions):
            node = _fact(picture, before, said, fact, 2 * number + 1, faint=rank > 0)
            before, said = node, fact.text
    last = max(node.column or 0 for node in picture.nodes.values()) + 1
    picture.columns = ["", *("" if n % 2 == 0 else f"Proposition {n // 2 + 1}" for n in range(1, last))]
    for rank, ranked in enumerate(answer.passages, 1):
        node = passage_node(picture, ranked.id, last)
        node.caption, node.faint = f"{rank}. {node.caption}", False
        node.lines.append(("Rank", f"{rank}, by a walk that starts from the propositions"))
    if any(node.column == last for node in picture.nodes.values()):
        picture.columns.append("Passages of the walk")
    if len(trace.fact_paths) > FACT_PATHS:
        picture.notes.append(f"The best {FACT_PATHS} of {len(trace.fact_paths)} paths are drawn.")
    return []


def _fact(picture: Picture, before: Node, said: str, fact: Fact, column: int, *, faint: bool) -> Node:
    """A proposition after another, or after the question where nothing was `said` before it."""
    behind = saying(picture, fact.passage, fact.text)
    node = picture.node(f"fact:{fact.id}", "Proposition", fact.text, column, faint=faint)
    stand_behind(node, behind)
    joint = _joint(said, fact.text)
    if joint and (before.column or 0) < (node.column or 0):
        name = name_node(picture, joint, column - 1, "", faint=faint)
        picture.edge(before.id, name.id, "names", before.behind, faint=faint)
        picture.edge(name.id, node.id, "named in", behind, faint=faint)
        stand_behind(name, behind)
    else:
        picture.edge(before.id, node.id, "then" if said else "near", behind, faint=faint)
    passage = passage_node(picture, fact.passage, node.column or column, faint=faint)
    picture.edge(node.id, passage.id, "stands in", behind, faint=faint)
    return node


def _joint(one: str, other: str) -> str:
    """The first name that two propositions share, or nothing where they are joined otherwise."""
    of_other = {name.casefold() for name, _ in names(other)}
    return next((name for name, _ in names(one) if name.casefold() in of_other and connects(name)), "")
