"""An answer as a picture: the question at the left, what was found for it hop by hop, the answer at the
right, and passages under what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gsw_graph.answer.quote import quote
from gsw_graph.cli.text.notebook import said
from gsw_graph.cli.text.safe_text import clean
from gsw_graph.names import normalise
from gsw_graph.naming.connecting import connects
from gsw_graph.picture.picture import NODES, Behind, Picture, stand_behind

if TYPE_CHECKING:
    from gsw_graph.picture.picture import Node
    from gsw_graph.results import Answer, RankedPassage

QUESTION = "question"


def of_answer(answer: Answer, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]) -> Picture:
    """The picture of an answer. fetch: passages by id, for those that the answer does not bring."""
    from gsw_graph.picture import agents, hops, ways

    trace = answer.trace
    picture = Picture(answer.question, said(answer))
    picture.node(QUESTION, "Question", answer.question, 0).lines += [("Strategy", answer.strategy)]
    _passages(picture, answer, fetch)
    if answer.chains:
        ends = hops.draw_chains(picture, answer)
    elif trace and trace.fact_paths:
        ends = ways.draw_facts(picture, answer, trace)
    elif trace and any(step.passages for step in trace.steps):
        ends = agents.draw_steps(picture, answer, trace)
    else:
        ends = ways.draw_walk(picture, answer, trace)
    end = _answer(picture, answer, ends)
    if picture.trim({QUESTION, end}):
        picture.notes.append(f"Only the first {NODES} nodes are drawn.")
    if answer.note:
        picture.notes.append(answer.note)
    return picture


def name_node(picture: Picture, name: str, column: int, by: str, *, faint: bool = False) -> Node:
    """The node of a name: one for all that says it, but of a date, a number or a common word one for each
    `by`."""
    id_ = f"name:{normalise(name)}" + ("" if connects(name) else f":{by}")
    return picture.node(id_, "Concept", name, column, faint=faint)


def passage_node(picture: Picture, passage: str, column: int, *, faint: bool = False) -> Node:
    """The node of a passage, with itself behind it."""
    known = picture.passages.get(passage)
    title = known.title if known else "a passage that is gone"
    node = picture.node(f"passage:{passage}", "Passage", title, column, faint=faint)
    stand_behind(node, {passage: []})
    return node


def saying(picture: Picture, passage: str, question: str, answer: str = "") -> dict[str, list[str]]:
    """A passage with the sentence of it that says this: one that is cited, where it does."""
    known = picture.passages.get(passage)
    if known is None:
        return {passage: []}
    cited = [one for one in known.quotes if answer and answer.casefold() in one.casefold()]
    return {passage: cited[:1] or [quote(known.text, question, answer)]}


def _passages(
    picture: Picture, answer: Answer, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]
) -> None:
    """All passages that the answer names, with what it quotes of them."""
    trace = answer.trace
    named = [citation.passage for citation in answer.citations]
    named += [hop.passage for chain in answer.chains for hop in chain.hops]
    if trace:
        named += [fact.passage for path in trace.fact_paths for fact in path.propositions]
        named += [step.id for path in trace.paths.values() for step in path if step.kind == "passage"]
    known = {passage.id for passage in answer.passages}
    missing = [one for one in dict.fromkeys(named) if one not in known]
    for passage in [*answer.passages, *(fetch(missing) if missing else ())]:
        picture.passages[passage.id] = Behind.of(passage.title, passage.source, passage.text)
    for cited in answer.citations:  # also of a passage that is gone by now
        gone = Behind.of(cited.title, cited.source, cited.text)
        quotes = picture.passages.setdefault(cited.passage, gone).quotes
        quotes += [clean(cited.text)] if clean(cited.text) not in quotes else []


def _answer(picture: Picture, answer: Answer, ends: Sequence[Node]) -> str:
    """Mark the node that is the answer, or add one after the `ends`; its id, "" where nothing is said."""
    text = answer.answer if answer.answer is not None else "Not in memory" if answer.abstained else None
    if text is None:
        return ""
    found = next((end for end in ends if normalise(end.caption) == normalise(text)), None)
    if found is None:
        column = max(node.column or 0 for node in picture.nodes.values()) + 1
        picture.columns += [""] * (column - len(picture.columns)) + ["Answer"]
        found = picture.node("answer", "Answer", text, column)
        for end in ends or [picture.nodes[QUESTION]]:
            picture.edge(end.id, found.id, behind=end.behind, faint=answer.abstained)
    found.answer = not answer.abstained
    found.lines.insert(0, ("Answer", picture.said))
    for cited in answer.citations:
        stand_behind(found, {cited.passage: [clean(cited.text)]})
    return found.id
