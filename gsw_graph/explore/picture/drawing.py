"""Draw an answer or the result of a query.

Of an answer, the question is at the left, then each step of the search, then the answer, with passages below
what they support; the trace of each strategy becomes paths of one shape, and one function draws them. Of a
query, each node is a node of the picture, but all nodes of one name are one. Dates, numbers and common words
join nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from gsw_graph.ask.answer.quotes import quote
from gsw_graph.cypher import base_name
from gsw_graph.errors import InputError
from gsw_graph.explore.notebook import answer_line
from gsw_graph.explore.picture.picture import CAPTIONS, NODES, TEXT, Picture, Source, add_sources
from gsw_graph.model.results import Trace
from gsw_graph.store.adhoc import plain
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.safe_text import clean, cut, one_line, to_json

if TYPE_CHECKING:
    from neo4j.graph import Node

    from gsw_graph.explore.picture.picture import Node as Drawing
    from gsw_graph.model.results import AgentStep, Answer, Chain, FactPath, RankedPassage
    from gsw_graph.store.adhoc import Drawn

Fetch: TypeAlias = "Callable[[Sequence[str]], Sequence[RankedPassage]]"
Sentences: TypeAlias = Mapping[str, Sequence[str]]
"""By the id of a passage those that support something."""
QUESTION = "question"
PATHS = 3  # chains, and paths of propositions, that are drawn; more would hide the best
KINDS = ("Names", "Passages")  # titles of columns that hold one kind of node
_REFERENCE = re.compile(r"#(\d+)")
NAMES = ("Concept", "Entity")
_STATED = (*NAMES, "QAPair", "VerbPhrase", "Proposition", "Role")  # labels that a sentence can state
_TITLE = 160
# properties that a picture does not show
_HIDDEN = {"id", "names", "titles", "position", "content_hash", "text_hash", "words", "embedding", "vector"}


@dataclass
class PathStep:
    """Hold a node of a path.

    Attributes:
        edge: The caption of the edge that leads to it.
        sources: The passages behind it by id, with the sentences that support it.
        after: Ids of the nodes before; by default the step before.
        below: Whether its passages are drawn below it.
        column_title: The title of its column.
    """

    id: str
    label: str
    caption: str
    edge: str = ""
    sources: Sentences = field(default_factory=dict)
    lines: Sequence[tuple[str, str]] = ()
    after: Sequence[str] = ()
    below: bool = False
    column_title: str = ""


def of_answer(answer: Answer, fetch: Fetch) -> Picture:
    """Draw an answer.

    Args:
        answer: Its paths are drawn if it was asked with `trace=True`.
        fetch: Reads by id the passages that the answer does not contain.
    """
    trace = answer.trace or Trace()
    picture = Picture(answer.question, answer_line(answer))
    question = picture.node(QUESTION, "Question", answer.question, 0)
    question.lines.append(("Strategy", answer.strategy))
    _add_passages(picture, answer, trace, fetch)
    best_first = [_chain(picture, chain) for chain in answer.chains]
    if not best_first:
        best_first = [_facts(picture, path) for path in trace.fact_paths]
    agents = [] if best_first else _agents(answer, trace)
    if best_first:
        for rank, steps in enumerate(best_first[:PATHS]):
            draw_path(picture, steps, faint=rank > 0)
    elif agents:
        draw_path(picture, agents)
    else:
        walks = [_walk(picture, answer, trace, passage.id) for passage in answer.passages]
        walks.sort(key=lambda steps: len(steps) == 1)  # passages without a name stand below the others
        for steps in walks:
            draw_path(picture, steps)
    if len(best_first) > PATHS:
        picture.notes.append(f"The best {PATHS} of {len(best_first)} paths are drawn.")
    for rank, passage in enumerate(answer.passages, 1):
        node = picture.nodes.get(f"passage:{passage.id}")
        if node is not None:
            node.caption = f"{rank}. {node.caption}"
            node.faint = False
    # Chains and agents end in answers; a walk ends in passages.
    ends = _ends(best_first[0] if answer.chains else agents)
    if not ends:
        ends = [f"passage:{citation.passage}" for citation in answer.citations]
    end = _draw_answer(picture, answer, ends)
    if picture.trim({QUESTION, end}):
        picture.notes.append(f"Only the first {NODES} nodes are drawn.")
    if answer.note:
        picture.notes.append(answer.note)
    return picture


def _ends(path: Sequence[PathStep]) -> list[str]:
    """Return the ids of the steps that no other follows."""
    followed: set[str] = set()
    for step, later in pairwise(path):
        followed.update(later.after or [step.id])
    return [step.id for step in path if step.id not in followed]


def draw_path(picture: Picture, steps: Sequence[PathStep], *, faint: bool = False) -> None:
    """Draw a path from left to right, each step one column after the steps that it follows."""
    last = QUESTION
    for step in steps:
        predecessors = step.after or [last]
        column = max(picture.nodes[id_].column or 0 for id_ in predecessors) + 1
        if step.column_title in KINDS:
            column = picture.column_of(step.column_title, column)
        node = picture.node(step.id, step.label, step.caption, column, faint=faint)
        node.lines = node.lines or list(step.lines)
        picture.add_column_title(node.column or column, step.column_title)
        add_sources(node, step.sources)
        for id_ in predecessors:
            picture.edge(id_, node.id, step.edge, step.sources, faint=faint)
        if step.below:
            for passage, sentences in step.sources.items():
                below = _passage(picture, passage)
                passage_node = picture.node(below.id, below.label, below.caption, column, faint=faint)
                add_sources(passage_node, below.sources)
                picture.edge(node.id, passage_node.id, "occurs in", {passage: sentences}, faint=faint)
        last = node.id


def _chain(picture: Picture, chain: Chain) -> list[PathStep]:
    """Return the pairs of a chain, each after the answers that its question refers to."""
    steps: list[PathStep] = []
    names: dict[str, str] = {}  # ids by step
    for hop in chain.hops:
        pair = f"pair:{hop.step}:{hop.qa.id}"
        name = _name_id(hop.answer, pair)
        after = [names[step] for step in _REFERENCE.findall(hop.question) if step in names]
        names[str(hop.step)] = name
        sources = _supporting(picture, hop.passage, hop.qa.question, hop.answer)
        asked = PathStep(pair, "QAPair", hop.qa.question, "", sources, after=after or [QUESTION], below=True)
        answers = "; ".join(hop.qa.answers)
        score = f"{hop.score:.2f}, found by {', '.join(hop.via)}"
        asked.lines = [("Asked", hop.concrete_question), ("Answer", answers), ("Score", score)]
        asked.column_title = f"Hop {hop.step}: {hop.question}"
        steps += [asked, PathStep(name, "Concept", hop.answer, "answer", sources)]
    return steps


def _facts(picture: Picture, path: FactPath) -> list[PathStep]:
    """Return the propositions of a path with the names that join them."""
    steps: list[PathStep] = []
    for fact in path.propositions:
        edge = "near"
        if steps:
            before = steps[-1]
            edge = "then"
            if joint := _shared_name(before.caption, fact.text):
                edge = "named in"
                steps.append(PathStep(_name_id(joint), "Concept", joint, "names", before.sources))
        sources = _supporting(picture, fact.passage, fact.text)
        steps.append(PathStep(f"fact:{fact.id}", "Proposition", fact.text, edge, sources, below=True))
    return steps


def _agents(answer: Answer, trace: Trace) -> list[PathStep]:
    """Return each search of an agent as a sub-question and its finding, after the findings that its plan
    refers to, else after the agent's last."""
    plan = {f"sub-question {step['id']}": str(step["question"]) for step in answer.plan or ()}
    steps: list[PathStep] = []
    findings: dict[str, str] = {}  # ids by agent
    for agent in dict.fromkeys(step.agent for step in trace.steps):
        names = [f"sub-question {number}" for number in _REFERENCE.findall(plan.get(agent, ""))]
        for search in _searches(agent, trace):
            after = [findings[name] for name in [*names, agent] if name in findings]
            passages = {id_ for step in search for id_ in step.passages}
            quotes = {quote.passage: [quote.text] for quote in answer.citations if quote.passage in passages}
            asked = PathStep(f"asked:{len(steps)}", "Sub-question", search[0].task, "then", quotes)
            asked.after = after or [QUESTION]
            asked.column_title = "Asked"
            found = PathStep(f"found:{len(steps)}", "Finding", _finding(search), "found", quotes, below=True)
            found.column_title = "Found"
            found.lines = list(map(_agent_line, search))
            findings[agent] = found.id
            steps += [asked, found]
    return steps


def _searches(agent: str, trace: Trace) -> list[list[AgentStep]]:
    """Return the steps of an agent in groups, each of which begins with passages."""
    searches: list[list[AgentStep]] = []
    is_one = agent.startswith(("sub-question", "path"))  # they search in several ways for one thing
    for step in trace.steps:
        if step.agent != agent:
            continue
        if step.passages and not (searches and is_one):
            searches.append([])
        if searches:
            searches[-1].append(step)
    return searches


def _agent_line(step: AgentStep) -> tuple[str, str]:
    """Return the stage of a step and its outcome."""
    stage = step.stage.replace("_", " ")
    return stage, f"failed: {step.failed}" if step.failed else step.outcome


def _finding(search: Sequence[AgentStep]) -> str:
    """Return the last outcome of a search, of the language model if it said something."""
    finding, is_said = "nothing", False
    for step in search:
        if step.outcome and not step.failed and (step.tokens or not is_said):
            finding, is_said = step.outcome, bool(step.tokens)
    return finding


def _walk(picture: Picture, answer: Answer, trace: Trace, passage: str) -> list[PathStep]:
    """Return the names and passages of a passage's strongest path, or the passage alone if the path leads
    over a name that joins nothing."""
    path = trace.paths.get(passage, [])
    is_common = any(step.kind == "name" and not is_distinctive(step.label) for step in path)
    if is_common or not path or path[-1].kind != "passage":
        return [_passage(picture, passage, "near", _supporting(picture, passage, answer.question))]
    steps: list[PathStep] = []
    linked = {link["concept"] for link in trace.linked}
    name = ""
    for position, step in enumerate(path):
        if step.kind == "passage":
            sources = _supporting(picture, step.id, answer.question, name)
            steps.append(_passage(picture, step.id, "occurs in", sources))
            continue
        name = step.label
        edge = "names"
        if position == 0:
            edge = "named in the question" if step.id in linked else "near the question"
        sources = _supporting(picture, path[position + 1].id, answer.question, name)
        steps.append(PathStep(_name_id(name), "Concept", name, edge, sources, column_title="Names"))
    return steps


def _shared_name(first: str, second: str) -> str:
    """Return the first name that two propositions share."""
    second_names = {name.text.casefold() for name in find_names(second)}
    for name in find_names(first):
        if name.text.casefold() in second_names and is_distinctive(name.text):
            return name.text
    return ""


def _name_id(name: str, owner: str = "") -> str:
    """Return the id of a name's node: one for all mentions, but of a date, a number or a common word one for
    each owner."""
    id_ = f"name:{normalise(name)}"
    return id_ if is_distinctive(name) else f"{id_}:{owner}"


def _passage(picture: Picture, passage: str, edge: str = "", sources: Sentences | None = None) -> PathStep:
    source = picture.passages.get(passage)
    title = source.title if source else "a passage that is gone"
    sources = sources or {passage: []}
    return PathStep(f"passage:{passage}", "Passage", title, edge, sources, column_title="Passages")


def _supporting(picture: Picture, passage: str, question: str, answer: str = "") -> Sentences:
    """Return a passage with its sentence that supports an answer, a cited sentence if there is one."""
    source = picture.passages.get(passage)
    if source is None:
        return {passage: []}
    for text in source.quotes:
        if answer and answer.casefold() in text.casefold():
            return {passage: [text]}
    return {passage: [quote(source.text, question, answer, source.title)]}


def _add_passages(picture: Picture, answer: Answer, trace: Trace, fetch: Fetch) -> None:
    """Add all passages of the answer, with the sentences that it cites."""
    ids = [citation.passage for citation in answer.citations]
    for chain in answer.chains:
        ids += [hop.passage for hop in chain.hops]
    for facts in trace.fact_paths:
        ids += [fact.passage for fact in facts.propositions]
    for path in trace.paths.values():
        ids += [step.id for step in path if step.kind == "passage"]
    picture.add_passages(answer.passages)
    missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in picture.passages]
    if missing:
        picture.add_passages(fetch(missing))
    for citation in answer.citations:  # also of a passage that was forgotten meanwhile
        source = Source.of(citation.title, citation.source, citation.text)
        quotes = picture.passages.setdefault(citation.passage, source).quotes
        text = clean(citation.text)
        if text not in quotes:
            quotes.append(text)


def _draw_answer(picture: Picture, answer: Answer, ends: Sequence[str]) -> str:
    """Mark the node that is the answer, or add one after the nodes `ends`. Returns its id, or ""."""
    text = answer.answer
    if text is None:
        if not answer.abstained:
            return ""
        text = "Not in memory"
    nodes = [picture.nodes[id_] for id_ in ends if id_ in picture.nodes]
    if not nodes:
        nodes = [picture.nodes[QUESTION]]
    named = [node for node in nodes if normalise(node.caption) == normalise(text)]
    if named:
        node = named[0]
    else:
        column = max(node.column or 0 for node in picture.nodes.values()) + 1
        picture.add_column_title(column, "Answer")
        node = picture.node("answer", "Answer", text, column)
        for end in nodes:
            picture.edge(end.id, node.id, sources=end.behind, faint=answer.abstained)
    node.answer = not answer.abstained
    node.lines.insert(0, ("Answer", picture.subtitle))
    for citation in answer.citations:
        add_sources(node, {citation.passage: [clean(citation.text)]})
    return node.id


def of_records(query: str, graph: Drawn, behind: Mapping[str, Sequence[RankedPassage]]) -> Picture:
    """Draw the result of a query.

    Args:
        query: Its text.
        graph: Its nodes and relationships.
        behind: Passages by node.

    Raises:
        InputError: There is no node.
    """
    if not graph.nodes:
        raise InputError(
            "the query returned nothing that can be drawn: no node, relationship or path",
            hint="Return nodes or paths, as in MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) "
            "RETURN way LIMIT 25",
        )
    picture = Picture(cut(one_line(query), _TITLE))
    for passages in behind.values():
        picture.add_passages(passages)
    drawn_ids: dict[str, str] = {}  # ids in the picture by ids of nodes
    for id_, node in graph.nodes.items():
        drawn = _draw_node(picture, id_, node)
        drawn_ids[id_] = drawn.id
        add_sources(drawn, _sentences(behind.get(id_, ()), node))
    for relationship in graph.relationships.values():
        start, end = (node.element_id if node else "" for node in relationship.nodes)
        source, target = drawn_ids.get(start), drawn_ids.get(end)
        if source is None or target is None or source == target:  # as of an Entity and its Concept
            continue
        kind = base_name(relationship.type).replace("_", " ").lower()
        edge = picture.edge(source, target, kind)
        end_ids = {passage.id for passage in behind.get(end, ())}
        shared = [passage for passage in behind.get(start, ()) if passage.id in end_ids]
        passages = shared or behind.get(start) or behind.get(end, ())
        add_sources(edge, _sentences(passages, graph.nodes[start], graph.nodes[end]))
    if picture.trim() or graph.left_out:
        total = len(graph.nodes) + len(graph.left_out)
        picture.notes.append(
            f"The query returned {total:,} nodes; the first are drawn, as a picture holds {NODES}. "
            "A LIMIT or a WHERE chooses others."
        )
    return picture


def _draw_node(picture: Picture, id_: str, node: Node) -> Drawing:
    """Draw a node with its properties, all nodes of one name as one."""
    label, caption = _label(node), _caption(node)
    joins = label in NAMES and node.get("from") is None and is_distinctive(caption)
    drawn_id = f"name:{normalise(caption)}" if joins else f"node:{id_}"
    drawn = picture.node(drawn_id, label, caption)
    if label == "Concept":
        drawn.label = label
    left_out = {CAPTIONS.get(label), "text" if label == "Passage" else ""}
    left_out |= _HIDDEN | {head for head, _ in drawn.lines}
    for name, value in sorted(node.items()):
        shown = None if name in left_out else plain(value)
        if shown is not None:
            drawn.lines.append((name, shown if isinstance(shown, str) else to_json(shown)))
    return drawn


def _label(node: Node) -> str:
    labels = sorted(map(base_name, node.labels)) or ["?"]
    return next((label for label in labels if label in CAPTIONS), labels[0])


def _caption(node: Node) -> str:
    label = _label(node)
    for name in (CAPTIONS.get(label, "name"), "name", "title", "source", "id"):
        text = node.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return label


def _sentences(passages: Sequence[RankedPassage], *nodes: Node) -> Sentences:
    """Return, by the id of each passage, its sentence that shares most words with some nodes."""
    stated = [node for node in nodes if _label(node) in _STATED]
    if not stated:
        return {passage.id: [] for passage in passages}
    words = " ".join(f"{_caption(node)} {node.get('answer') or ''}" for node in stated)
    name = next((_caption(node) for node in reversed(stated) if _label(node) in NAMES), "")
    return {passage.id: [quote(cut(clean(passage.text), TEXT), words, name)] for passage in passages}
