"""An answer as a picture: the question at the left, what was found for it step by step, the answer at the
right, and passages under what they say.

Each strategy's trace is turned into paths of one shape, and one function draws them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.explore.notebook import answer_line
from gsw_graph.explore.picture.picture import NODES, Picture, Source, add_sources
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.safe_text import clean
from gsw_graph.text.words import content_words

if TYPE_CHECKING:
    from gsw_graph.explore.picture.picture import Node
    from gsw_graph.model.results import AgentStep, Answer, RankedPassage, Trace

QUESTION = "question"
PATHS = 3  # chains or paths that are drawn; more would hide the best
_REFERENCE = re.compile(r"#(\d+)")


@dataclass
class PathStep:
    """Hold one node of a path.

    Attributes:
        edge: the caption of the arrow that leads to it.
        sources: the passages behind it, with the sentences that say so.
        after: ids of the nodes that it follows; the step before it where there are none.
        below: whether its passages are drawn under it.
    """

    id: str
    label: str
    caption: str
    edge: str = ""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lines: Sequence[tuple[str, str]] = ()
    after: Sequence[str] = ()
    below: bool = False


def of_answer(answer: Answer, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]) -> Picture:
    """Draw an answer.

    Args:
        answer: asked with `trace=True` it has its paths.
        fetch: reads passages by id, for those that the answer does not bring.
    """
    trace = answer.trace
    picture = Picture(answer.question, answer_line(answer))
    picture.node(QUESTION, "Question", answer.question, 0).lines += [("Strategy", answer.strategy)]
    _add_passages(picture, answer, fetch)
    if answer.chains:
        ends = _draw_chains(picture, answer)
    elif trace and trace.fact_paths:
        ends = _draw_facts(picture, answer, trace)
    elif trace and any(step.passages for step in trace.steps):
        ends = _draw_agents(picture, answer, trace)
    else:
        ends = _draw_walk(picture, answer, trace)
    end = _draw_answer(picture, answer, ends)
    if picture.trim({QUESTION, end}):
        picture.notes.append(f"Only the first {NODES} nodes are drawn.")
    if answer.note:
        picture.notes.append(answer.note)
    return picture


def draw_path(picture: Picture, steps: Sequence[PathStep], *, faint: bool = False) -> Node:
    """Draw a path from left to right, each step one column after what it follows; return its last node."""
    node = picture.nodes[QUESTION]
    for step in steps:
        before = [picture.nodes[id_] for id_ in step.after] or [node]
        column = max(source.column or 0 for source in before) + 1
        node = picture.node(step.id, step.label, step.caption, column, faint=faint)
        node.lines = node.lines or list(step.lines)
        add_sources(node, step.sources)
        for source in before:
            picture.edge(source.id, node.id, step.edge, step.sources, faint=faint)
        for passage in step.sources if step.below else ():
            below = _passage(picture, passage)
            picture.node(below.id, below.label, below.caption, column, faint=faint)
            add_sources(picture.nodes[below.id], {passage: []})
            picture.edge(node.id, below.id, "stands in", {passage: step.sources[passage]}, faint=faint)
    return node


# The traces of strategies as paths


def _draw_chains(picture: Picture, answer: Answer) -> list[Node]:
    """Draw the best chains of question-answer pairs; return the names in which the best ends."""
    heads: dict[int, list[str]] = {}  # questions by column
    ends: list[Node] = []
    for rank, chain in enumerate(answer.chains[:PATHS]):
        names: dict[int, str] = {}  # ids by step
        followed: set[int] = set()
        for hop in chain.hops:
            before = [int(n) for n in _REFERENCE.findall(hop.question) if int(n) in names]
            followed.update(before)
            pair = f"pair:{hop.step}:{hop.qa.id}"
            names[hop.step] = _name_id(hop.answer, pair)
            sources = _saying(picture, hop.passage, hop.qa.question, hop.answer)
            lines = [
                ("Asked", hop.concrete_question),
                ("Answer", "; ".join(hop.qa.answers)),
                ("Score", f"{hop.score:.2f}, found by {', '.join(hop.via)}"),
            ]
            after = [names[n] for n in before] or [QUESTION]
            steps = [
                PathStep(pair, "QAPair", hop.qa.question, "", sources, lines, after, below=True),
                PathStep(names[hop.step], "Concept", hop.answer, "answer", sources),
            ]
            draw_path(picture, steps, faint=rank > 0)
            questions = heads.setdefault(picture.nodes[pair].column or 0, [])
            questions += [hop.question] if hop.question not in questions else []
        if not rank:
            ends = [picture.nodes[name] for step, name in names.items() if step not in followed]
    for number, column in enumerate(sorted(heads), 1):
        picture.head(column, f"Hop {number}: {' / '.join(heads[column])}")
    if len(answer.chains) > PATHS:
        picture.notes.append(f"The best {PATHS} of {len(answer.chains)} chains are drawn.")
    return ends


def _draw_facts(picture: Picture, answer: Answer, trace: Trace) -> list[Node]:
    """Draw propositions with the names that join them, and last the passages that the walk found."""
    for rank, path in enumerate(trace.fact_paths[:PATHS]):
        steps: list[PathStep] = []
        for fact in path.propositions:
            sources = _saying(picture, fact.passage, fact.text)
            joint = _shared_name(steps[-1].caption, fact.text) if steps else ""
            if joint:
                steps.append(PathStep(_name_id(joint), "Concept", joint, "names", steps[-1].sources))
            edge = "named in" if joint else "then" if steps else "near"
            steps.append(PathStep(f"fact:{fact.id}", "Proposition", fact.text, edge, sources, below=True))
        draw_path(picture, steps, faint=rank > 0)
    last = max(node.column or 0 for node in picture.nodes.values()) + 1
    for rank, ranked in enumerate(answer.passages, 1):
        step = _passage(picture, ranked.id)
        node = picture.node(step.id, step.label, step.caption, last)
        node.caption, node.faint = f"{rank}. {node.caption}", False
        node.lines.append(("Rank", f"{rank}, by a walk that starts from the propositions"))
    picture.head(last, "Passages of the walk")
    if len(trace.fact_paths) > PATHS:
        picture.notes.append(f"The best {PATHS} of {len(trace.fact_paths)} paths are drawn.")
    return []


def _draw_agents(picture: Picture, answer: Answer, trace: Trace) -> list[Node]:
    """Draw each search of an agent as a sub-question and its finding; return those that none follows."""
    plan = {f"sub-question {step['id']}": str(step["question"]) for step in answer.plan or ()}
    findings: dict[str, str] = {}  # node ids by agent; the last of one that searches again and again
    followed: set[str] = set()
    searches = list(_searches(trace))
    cited: list[dict[str, list[str]]] = [{} for _ in searches]
    for citation in answer.citations:  # it belongs to the finding whose words it shares most
        shared = {
            len(content_words(citation.text) & content_words(_finding(steps))): sources
            for (_, steps), sources in zip(reversed(searches), reversed(cited), strict=True)
            if any(citation.passage in step.passages for step in steps)
        }
        if shared:
            shared[max(shared)].setdefault(citation.passage, []).append(citation.text)
    for number, (agent, steps) in enumerate(searches, 1):
        before = [f"sub-question {n}" for n in _REFERENCE.findall(plan.get(agent, ""))]
        before = [name for name in before if name in findings] or [agent] * (agent in findings)
        followed.update(name for name in before if name != agent)
        lines = [
            (step.stage.replace("_", " "), f"failed: {step.failed}" if step.failed else step.found)
            for step in steps
        ]
        after = [findings[name] for name in before] or [QUESTION]
        findings[agent] = f"found:{number}"
        sources = cited[number - 1]
        path = [
            PathStep(f"asked:{number}", "Sub-question", steps[0].asked, "then", sources, (), after),
            PathStep(findings[agent], "Finding", _finding(steps), "found", sources, lines, below=True),
        ]
        draw_path(picture, path)
    for column in range(1, max(node.column or 0 for node in picture.nodes.values()) + 1):
        picture.head(column, "Asked" if column % 2 else "Found")
    return [picture.nodes[id_] for agent, id_ in findings.items() if agent not in followed]


def _draw_walk(picture: Picture, answer: Answer, trace: Trace | None) -> list[Node]:
    """Draw the names of each passage's strongest path, or the passage alone where there is none. Passages are
    no answers: nothing ends here."""
    paths = trace.paths if trace else {}
    linked = {link["concept"] for link in trace.linked} if trace else set()
    for rank, passage in enumerate(answer.passages, 1):
        path = paths.get(passage.id, [])
        common = [step.label for step in path if step.kind == "name" and not is_distinctive(step.label)]
        steps: list[PathStep] = []
        for step in path if not common and path and path[-1].kind == "passage" else ():
            at = next((before for before in reversed(steps) if before.label == "Passage"), None)
            if step.kind == "name":
                first = "named in the question" if step.id in linked else "near the question"
                at_id = at.id.removeprefix("passage:") if at else ""
                sources = _saying(picture, at_id, answer.question, step.label) if at else {}
                steps.append(
                    PathStep(_name_id(step.label), "Concept", step.label, "names" if at else first, sources)
                )
            else:
                before = steps[-1].caption if steps else ""
                sources = _saying(picture, step.id, answer.question, before)
                if steps:
                    steps[-1].sources = {**sources, **steps[-1].sources}
                steps.append(_passage(picture, step.id, "stands in", sources))
        if not steps:
            sources = _saying(picture, passage.id, answer.question)
            steps = [_passage(picture, passage.id, "near", sources)]
        node = draw_path(picture, steps, faint=bool(common))
        if common:
            left_out = f"{', '.join(common)}, which alone joins nothing and is not drawn"
            node.lines.append(("Found over", left_out))
        node.caption, node.faint = f"{rank}. {node.caption}", False
        node.lines.append(("Rank", str(rank)))
    heads = ("Passages", "Names") if paths else ("", "Passages")
    for column in range(1, max(node.column or 0 for node in picture.nodes.values()) + 1):
        picture.head(column, heads[column % 2])
    return []


def _searches(trace: Trace) -> Iterator[tuple[str, list[AgentStep]]]:
    """Group the steps of each agent that found passages: what follows a search belongs to it."""
    by_agent: dict[str, list[list[AgentStep]]] = {}
    for step in trace.steps:
        groups = by_agent.setdefault(step.agent, [])
        again = step.passages and not (step.agent.startswith(("sub-question", "path")) and groups)
        if again:
            groups.append([])
        if groups:
            groups[-1].append(step)
    for agent, groups in by_agent.items():
        for steps in groups:
            yield agent, steps


def _finding(steps: Sequence[AgentStep]) -> str:
    """Return what came of a search, in the words of the model where it said something."""
    results = [step for step in steps if not step.failed and step.found]
    worded = [step for step in results if step.tokens] or results
    return worded[-1].found if worded else "nothing"


def _shared_name(first: str, second: str) -> str:
    """Return the first name that two propositions share."""
    others = {name.text.casefold() for name in find_names(second)}
    names = (name.text for name in find_names(first))
    return next((name for name in names if name.casefold() in others and is_distinctive(name)), "")


# Nodes and their passages


def _name_id(name: str, place: str = "") -> str:
    """Return the id of a name's node: the same wherever it is said, but of a date, a number or a common word
    one for each place."""
    return f"name:{normalise(name)}" + ("" if is_distinctive(name) else f":{place}")


def _passage(
    picture: Picture, passage: str, edge: str = "", sources: Mapping[str, Sequence[str]] | None = None
) -> PathStep:
    known = picture.passages.get(passage)
    title = known.title if known else "a passage that is gone"
    return PathStep(f"passage:{passage}", "Passage", title, edge, sources or {passage: []})


def _saying(picture: Picture, passage: str, question: str, answer: str = "") -> dict[str, list[str]]:
    """Return a passage with the sentence of it that says this: a cited one, where it does."""
    known = picture.passages.get(passage)
    if known is None:
        return {passage: []}
    cited = [text for text in known.quotes if answer and answer.casefold() in text.casefold()]
    return {passage: cited[:1] or [quote(known.text, question, answer)]}


def _add_passages(
    picture: Picture, answer: Answer, fetch: Callable[[Sequence[str]], Sequence[RankedPassage]]
) -> None:
    """Add all passages that the answer names, with what it quotes of them."""
    trace = answer.trace
    named = [citation.passage for citation in answer.citations]
    named += [hop.passage for chain in answer.chains for hop in chain.hops]
    if trace:
        named += [fact.passage for path in trace.fact_paths for fact in path.propositions]
        named += [step.id for path in trace.paths.values() for step in path if step.kind == "passage"]
    known = {passage.id for passage in answer.passages}
    missing = [id_ for id_ in dict.fromkeys(named) if id_ not in known]
    picture.add_passages([*answer.passages, *(fetch(missing) if missing else ())])
    for citation in answer.citations:  # also of a passage that is gone by now
        gone = Source.of(citation.title, citation.source, citation.text)
        quotes = picture.passages.setdefault(citation.passage, gone).quotes
        quotes += [clean(citation.text)] if clean(citation.text) not in quotes else []


def _draw_answer(picture: Picture, answer: Answer, ends: Sequence[Node]) -> str:
    """Mark the node that is the answer, or add one after the `ends`; return its id, "" where nothing is
    said."""
    text = answer.answer if answer.answer is not None else "Not in memory" if answer.abstained else None
    if text is None:
        return ""
    node = next((end for end in ends if normalise(end.caption) == normalise(text)), None)
    if node is None:
        column = max(node.column or 0 for node in picture.nodes.values()) + 1
        picture.head(column, "Answer")
        node = picture.node("answer", "Answer", text, column)
        for end in ends or [picture.nodes[QUESTION]]:
            picture.edge(end.id, node.id, sources=end.behind, faint=answer.abstained)
    node.answer = not answer.abstained
    node.lines.insert(0, ("Answer", picture.said))
    for citation in answer.citations:
        add_sources(node, {citation.passage: [clean(citation.text)]})
    return node.id
