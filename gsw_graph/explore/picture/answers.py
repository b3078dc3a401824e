"""An answer as a picture: the question at the left, what was found for it step by step, the answer at the
right, and passages under what they say.

The trace of each strategy becomes paths of one shape, and one function draws them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.explore.notebook import answer_line
from gsw_graph.explore.picture.picture import NODES, Picture, Source, add_sources
from gsw_graph.model.results import Trace
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.safe_text import clean

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, Chain, FactPath, RankedPassage

QUESTION = "question"
PATHS = 3  # chains, and paths of propositions, that are drawn; more would hide the best
_REFERENCE = re.compile(r"#(\d+)")


@dataclass
class PathStep:
    """Hold one node of a path.

    Attributes:
        edge: the caption of the arrow that leads to it.
        sources: the passages behind it by id, with the sentences that say so.
        after: ids of the nodes that it follows; the step before it where there are none.
        below: whether its passages are drawn under it.
        head: what stands above its column.
    """

    id: str
    label: str
    caption: str
    edge: str = ""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lines: Sequence[tuple[str, str]] = ()
    after: Sequence[str] = ()
    below: bool = False
    head: str = ""


def of_answer(answer: Answer, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]) -> Picture:
    """Draw an answer.

    Args:
        answer: asked with `trace=True` it has its paths.
        fetch: reads passages by id, for those that the answer does not bring.
    """
    trace = answer.trace or Trace()
    picture = Picture(answer.question, answer_line(answer))
    picture.node(QUESTION, "Question", answer.question, 0).lines += [("Strategy", answer.strategy)]
    _add_passages(picture, answer, trace, fetch)
    best_first = [_chain(picture, chain) for chain in answer.chains]
    best_first = best_first or [_facts(picture, path) for path in trace.fact_paths]
    agents = [] if best_first else _agents(answer, trace)
    walks = [] if best_first or agents else [_walk(picture, answer, trace, p.id) for p in answer.passages]
    for rank, steps in enumerate([*best_first[:PATHS], *([agents] if agents else walks)]):
        draw_path(picture, steps, faint=bool(best_first) and rank > 0)
    if len(best_first) > PATHS:
        picture.notes.append(f"The best {PATHS} of {len(best_first)} paths are drawn.")
    for rank, passage in enumerate(answer.passages, 1):
        if node := picture.nodes.get(f"passage:{passage.id}"):
            node.caption, node.faint = f"{rank}. {node.caption}", False
    # Chains and agents end in answers; what a walk finds is only read.
    leading = best_first[0] if answer.chains else agents
    followed = {QUESTION, *(id_ for step in leading for id_ in step.after)}
    followed |= {step.id for step, later in pairwise(leading) if not later.after}
    ends = [step.id for step in leading if step.id not in followed]
    end = _draw_answer(picture, answer, ends or [f"passage:{cited.passage}" for cited in answer.citations])
    if picture.trim({QUESTION, end}):
        picture.notes.append(f"Only the first {NODES} nodes are drawn.")
    if answer.note:
        picture.notes.append(answer.note)
    return picture


def draw_path(picture: Picture, steps: Sequence[PathStep], *, faint: bool = False) -> None:
    """Draw a path from left to right, each step one column after what it follows."""
    last = QUESTION
    for step in steps:
        before = step.after or [last]
        column = max(picture.nodes[id_].column or 0 for id_ in before) + 1
        node = picture.node(step.id, step.label, step.caption, column, faint=faint)
        node.lines = node.lines or list(step.lines)
        picture.head(node.column or column, step.head)
        add_sources(node, step.sources)
        for id_ in before:
            picture.edge(id_, node.id, step.edge, step.sources, faint=faint)
        for passage in step.sources if step.below else ():
            below = _passage(picture, passage)
            box = picture.node(below.id, below.label, below.caption, column, faint=faint)
            add_sources(box, below.sources)
            picture.edge(node.id, box.id, "stands in", {passage: step.sources[passage]}, faint=faint)
        last = node.id


def _chain(picture: Picture, chain: Chain) -> list[PathStep]:
    """Return question-answer pairs, each after the answers that its question refers to."""
    steps: list[PathStep] = []
    names: dict[str, str] = {}  # ids by step
    for hop in chain.hops:
        pair = f"pair:{hop.step}:{hop.qa.id}"
        after = [names[step] for step in _REFERENCE.findall(hop.question) if step in names] or [QUESTION]
        names[str(hop.step)] = name = _name_id(hop.answer, pair)
        sources = _saying(picture, hop.passage, hop.qa.question, hop.answer)
        lines = [
            ("Asked", hop.concrete_question),
            ("Answer", "; ".join(hop.qa.answers)),
            ("Score", f"{hop.score:.2f}, found by {', '.join(hop.via)}"),
        ]
        head = f"Hop {hop.step}: {hop.question}"
        steps += [
            PathStep(pair, "QAPair", hop.qa.question, "", sources, lines, after, below=True, head=head),
            PathStep(name, "Concept", hop.answer, "answer", sources),
        ]
    return steps


def _facts(picture: Picture, path: FactPath) -> list[PathStep]:
    """Return propositions with the names that join them."""
    steps: list[PathStep] = []
    for fact in path.propositions:
        joint = _shared_name(steps[-1].caption, fact.text) if steps else ""
        if joint:
            steps.append(PathStep(_name_id(joint), "Concept", joint, "names", steps[-1].sources))
        edge = "named in" if joint else "then" if steps else "near"
        sources = _saying(picture, fact.passage, fact.text)
        steps.append(PathStep(f"fact:{fact.id}", "Proposition", fact.text, edge, sources, below=True))
    return steps


def _agents(answer: Answer, trace: Trace) -> list[PathStep]:
    """Return each search of an agent as a sub-question and its finding, after those that its plan names, else
    after the agent's last."""
    plan = {f"sub-question {step['id']}": str(step["question"]) for step in answer.plan or ()}
    steps: list[PathStep] = []
    findings: dict[str, str] = {}  # ids by agent
    for agent in dict.fromkeys(step.agent for step in trace.steps):
        own = [step for step in trace.steps if step.agent == agent]
        begins = [number for number, step in enumerate(own) if step.passages]
        if agent.startswith(("sub-question", "path")):  # they search in several ways for one thing
            del begins[1:]
        for begin, end in zip(begins, [*begins[1:], None], strict=False):
            search = own[begin:end]
            names = [f"sub-question {number}" for number in _REFERENCE.findall(plan.get(agent, ""))]
            after = [findings[name] for name in [*names, agent] if name in findings] or [QUESTION]
            results = [step for step in search if not step.failed and step.found]
            worded = [step.found for step in results if step.tokens] or [step.found for step in results]
            read = {id_ for step in search for id_ in step.passages}
            cited = {cited.passage: [cited.text] for cited in answer.citations if cited.passage in read}
            lines = [
                (step.stage.replace("_", " "), f"failed: {step.failed}" if step.failed else step.found)
                for step in search
            ]
            asked, finding = f"asked:{len(steps)}", f"found:{len(steps)}"
            findings[agent] = finding
            steps += [
                PathStep(asked, "Sub-question", search[0].asked, "then", cited, (), after, head="Asked"),
                PathStep(
                    finding,
                    "Finding",
                    worded[-1] if worded else "nothing",
                    "found",
                    cited,
                    lines,
                    below=True,
                    head="Found",
                ),
            ]
    return steps


def _walk(picture: Picture, answer: Answer, trace: Trace, passage: str) -> list[PathStep]:
    """Return the names and passages of a passage's strongest path, or the passage alone where names that join
    nothing led there."""
    path = trace.paths.get(passage, [])
    common = any(step.kind == "name" and not is_distinctive(step.label) for step in path)
    if common or not path or path[-1].kind != "passage":
        return [_passage(picture, passage, "near", _saying(picture, passage, answer.question))]
    steps: list[PathStep] = []
    linked = {link["concept"] for link in trace.linked}
    for place, step in enumerate(path):
        if step.kind == "passage":
            name = path[place - 1].label if place else ""
            sources = _saying(picture, step.id, answer.question, name)
            steps.append(_passage(picture, step.id, "stands in", sources))
        else:
            sources = _saying(picture, path[place + 1].id, answer.question, step.label)
            edge = "named in the question" if step.id in linked else "near the question"
            edge = "names" if place else edge
            name_id = _name_id(step.label)
            steps.append(PathStep(name_id, "Concept", step.label, edge, sources, head="Names"))
    return steps


def _shared_name(first: str, second: str) -> str:
    """Return the first name that two propositions share."""
    others = {name.text.casefold() for name in find_names(second)}
    names = (name.text for name in find_names(first))
    return next((name for name in names if name.casefold() in others and is_distinctive(name)), "")


def _name_id(name: str, place: str = "") -> str:
    """Return the id of a name's node: the same wherever it is said, but of a date, a number or a common word
    one for each place."""
    return f"name:{normalise(name)}" + ("" if is_distinctive(name) else f":{place}")


def _passage(
    picture: Picture, passage: str, edge: str = "", sources: Mapping[str, Sequence[str]] | None = None
) -> PathStep:
    known = picture.passages.get(passage)
    title = known.title if known else "a passage that is gone"
    return PathStep(f"passage:{passage}", "Passage", title, edge, sources or {passage: []}, head="Passages")


def _saying(picture: Picture, passage: str, question: str, answer: str = "") -> dict[str, list[str]]:
    """Return a passage with the sentence of it that says this: a cited one, where it does."""
    known = picture.passages.get(passage)
    if known is None:
        return {passage: []}
    cited = [text for text in known.quotes if answer and answer.casefold() in text.casefold()]
    return {passage: cited[:1] or [quote(known.text, question, answer)]}


def _add_passages(
    picture: Picture, answer: Answer, trace: Trace, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]
) -> None:
    """Add all passages that the answer names, with what it quotes of them."""
    named = [citation.passage for citation in answer.citations]
    named += [hop.passage for chain in answer.chains for hop in chain.hops]
    named += [fact.passage for path in trace.fact_paths for fact in path.propositions]
    named += [step.id for path in trace.paths.values() for step in path if step.kind == "passage"]
    known = {passage.id for passage in answer.passages}
    missing = [id_ for id_ in dict.fromkeys(named) if id_ not in known]
    picture.add_passages([*answer.passages, *(fetch(missing) if missing else ())])
    for citation in answer.citations:  # also of a passage that is gone by now
        gone = Source.of(citation.title, citation.source, citation.text)
        quotes = picture.passages.setdefault(citation.passage, gone).quotes
        quotes += [clean(citation.text)] if clean(citation.text) not in quotes else []


def _draw_answer(picture: Picture, answer: Answer, ends: Sequence[str]) -> str:
    """Mark the node that is the answer, or add one after the `ends`; return its id, "" without one."""
    text = answer.answer if answer.answer is not None else "Not in memory" if answer.abstained else None
    if text is None:
        return ""
    nodes = [picture.nodes[id_] for id_ in ends if id_ in picture.nodes] or [picture.nodes[QUESTION]]
    node = next((node for node in nodes if normalise(node.caption) == normalise(text)), None)
    if node is None:
        column = max(node.column or 0 for node in picture.nodes.values()) + 1
        picture.head(column, "Answer")
        node = picture.node("answer", "Answer", text, column)
        for end in nodes:
            picture.edge(end.id, node.id, sources=end.behind, faint=answer.abstained)
    node.answer = not answer.abstained
    node.lines.insert(0, ("Answer", picture.said))
    for citation in answer.citations:
        add_sources(node, {citation.passage: [clean(citation.text)]})
    return node.id
