"""An answer as a picture: the question at the left, what was found for it step by step, the answer at the
right, and passages under what they say.

Each strategy's trace is turned into paths of one shape, and one function draws them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.explore.notebook import answer_line
from gsw_graph.explore.picture.picture import NODES, Picture, Source, add_sources
from gsw_graph.model.results import Trace
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.safe_text import clean
from gsw_graph.text.words import content_words

if TYPE_CHECKING:
    from gsw_graph.explore.picture.picture import Node
    from gsw_graph.model.results import AgentStep, Answer, RankedPassage

Sources = Mapping[str, Sequence[str]]  # passages by id, with the sentences that say so
QUESTION = "question"
PATHS = 3  # chains or paths that are drawn; more would hide the best
_REFERENCE = re.compile(r"#(\d+)")


@dataclass
class PathStep:
    """Hold one node of a path.

    Attributes:
        edge: the caption of the arrow that leads to it.
        sources: the passages behind it.
        after: ids of the nodes that it follows; the step before it where there are none.
        below: whether its passages are drawn under it.
    """

    id: str
    label: str
    caption: str
    edge: str = ""
    sources: Sources = field(default_factory=dict)
    lines: Sequence[tuple[str, str]] = ()
    after: Sequence[str] = ()
    below: bool = False


@dataclass
class Search:
    """Hold what an agent looked for once: the step that found passages, and what it made of them."""

    agent: str
    steps: list[AgentStep]
    cited: dict[str, list[str]] = field(default_factory=dict)

    @property
    def finding(self) -> str:
        """Return what came of it, in the words of the model where it said something."""
        results = [step for step in self.steps if not step.failed and step.found]
        worded = [step for step in results if step.tokens] or results
        return worded[-1].found if worded else "nothing"


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
    if answer.chains:
        ends = _draw_chains(picture, answer)
    elif trace.fact_paths:
        ends = _draw_facts(picture, answer, trace)
    elif searches := _searches(trace):
        ends = _draw_agents(picture, answer, searches)
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
            add_sources(
                picture.node(below.id, below.label, below.caption, column, faint=faint), {passage: []}
            )
            picture.edge(node.id, below.id, "stands in", {passage: step.sources[passage]}, faint=faint)
    return node


# The traces of strategies as paths


def _draw_chains(picture: Picture, answer: Answer) -> list[Node]:
    """Draw the best chains of question-answer pairs; return the names in which the best ends."""
    heads: dict[int, dict[str, None]] = {}  # questions by column
    ends: list[Node] = []
    for rank, chain in enumerate(answer.chains[:PATHS]):
        names: dict[str, str] = {}  # ids by step
        followed: set[str] = set()
        for hop in chain.hops:
            before = [step for step in _REFERENCE.findall(hop.question) if step in names]
            followed.update(before)
            pair = f"pair:{hop.step}:{hop.qa.id}"
            sources = _saying(picture, hop.passage, hop.qa.question, hop.answer)
            lines = [
                ("Asked", hop.concrete_question),
                ("Answer", "; ".join(hop.qa.answers)),
                ("Score", f"{hop.score:.2f}, found by {', '.join(hop.via)}"),
            ]
            after = [names[step] for step in before] or [QUESTION]
            names[str(hop.step)] = name = _name_id(hop.answer, pair)
            steps = [
                PathStep(pair, "QAPair", hop.qa.question, "", sources, lines, after, below=True),
                PathStep(name, "Concept", hop.answer, "answer", sources),
            ]
            draw_path(picture, steps, faint=rank > 0)
            heads.setdefault(picture.nodes[pair].column or 0, {})[hop.question] = None
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
            joint = _shared_name(steps[-1].caption, fact.text) if steps else ""
            if joint:
                steps.append(PathStep(_name_id(joint), "Concept", joint, "names", steps[-1].sources))
            edge = "named in" if joint else "then" if steps else "near"
            sources = _saying(picture, fact.passage, fact.text)
            steps.append(PathStep(f"fact:{fact.id}", "Proposition", fact.text, edge, sources, below=True))
        draw_path(picture, steps, faint=rank > 0)
    last = picture.last_column() + 1
    for rank, ranked in enumerate(answer.passages, 1):
        step = _passage(picture, ranked.id)
        node = picture.node(step.id, step.label, step.caption, last)
        _rank(node, rank, f"{rank}, by a walk that starts from the propositions")
    picture.head(last, "Passages of the walk")
    if len(trace.fact_paths) > PATHS:
        picture.notes.append(f"The best {PATHS} of {len(trace.fact_paths)} paths are drawn.")
    return []


def _draw_agents(picture: Picture, answer: Answer, searches: Sequence[Search]) -> list[Node]:
    """Draw each search of an agent as a sub-question and its finding; return those that none follows."""
    plan = {f"sub-question {step['id']}": str(step["question"]) for step in answer.plan or ()}
    for citation in answer.citations:  # it belongs to the finding whose words it shares most
        words = content_words(citation.text)
        candidates = [s for s in searches if any(citation.passage in step.passages for step in s.steps)]
        if candidates:
            best = max(candidates, key=lambda search: len(words & content_words(search.finding)))
            best.cited.setdefault(citation.passage, []).append(citation.text)
    findings: dict[str, str] = {}  # node ids by agent; the last of one that searches again and again
    followed: set[str] = set()
    for number, search in enumerate(searches, 1):
        before = [f"sub-question {n}" for n in _REFERENCE.findall(plan.get(search.agent, ""))]
        before = [name for name in before if name in findings] or [search.agent] * (search.agent in findings)
        followed.update(name for name in before if name != search.agent)
        after = [findings[name] for name in before] or [QUESTION]
        findings[search.agent] = finding = f"found:{number}"
        lines = [
            (step.stage.replace("_", " "), f"failed: {step.failed}" if step.failed else step.found)
            for step in search.steps
        ]
        asked, cited = search.steps[0].asked, search.cited
        steps = [
            PathStep(f"asked:{number}", "Sub-question", asked, "then", cited, (), after),
            PathStep(finding, "Finding", search.finding, "found", cited, lines, below=True),
        ]
        draw_path(picture, steps)
    for column in range(1, picture.last_column() + 1):
        picture.head(column, "Asked" if column % 2 else "Found")
    return [picture.nodes[id_] for agent, id_ in findings.items() if agent not in followed]


def _draw_walk(picture: Picture, answer: Answer, trace: Trace) -> list[Node]:
    """Draw the names of each passage's strongest path, or the passage alone where there is none. Passages are
    no answers: nothing ends here."""
    linked = {link["concept"] for link in trace.linked}
    for rank, passage in enumerate(answer.passages, 1):
        path = trace.paths.get(passage.id, [])
        common = [step.label for step in path if step.kind == "name" and not is_distinctive(step.label)]
        steps: list[PathStep] = []
        place = ""  # the passage before a name
        for step in path if not common and path and path[-1].kind == "passage" else ():
            if step.kind == "passage":
                sources = _saying(picture, step.id, answer.question, steps[-1].caption if steps else "")
                if steps:
                    steps[-1].sources = {**sources, **steps[-1].sources}
                steps.append(_passage(picture, step.id, "stands in", sources))
                place = step.id
            else:
                edge = "named in the question" if step.id in linked else "near the question"
                sources = _saying(picture, place, answer.question, step.label) if place else {}
                edge = "names" if place else edge
                steps.append(PathStep(_name_id(step.label), "Concept", step.label, edge, sources))
        if not steps:
            sources = _saying(picture, passage.id, answer.question)
            steps = [_passage(picture, passage.id, "near", sources)]
        node = draw_path(picture, steps, faint=bool(common))
        if common:
            left_out = f"{', '.join(common)}, which alone joins nothing and is not drawn"
            node.lines.append(("Found over", left_out))
        _rank(node, rank, str(rank))
    heads = ("Passages", "Names") if trace.paths else ("", "Passages")
    for column in range(1, picture.last_column() + 1):
        picture.head(column, heads[column % 2])
    return []


def _searches(trace: Trace) -> list[Search]:
    """Group the steps of each agent that found passages: what follows a search belongs to it."""
    by_agent: dict[str, list[Search]] = {}
    for step in trace.steps:
        searches = by_agent.setdefault(step.agent, [])
        if step.passages and not (step.agent.startswith(("sub-question", "path")) and searches):
            searches.append(Search(step.agent, [step]))
        elif searches:
            searches[-1].steps.append(step)
    return [search for searches in by_agent.values() for search in searches]


def _shared_name(first: str, second: str) -> str:
    """Return the first name that two propositions share."""
    others = {name.text.casefold() for name in find_names(second)}
    names = (name.text for name in find_names(first))
    return next((name for name in names if name.casefold() in others and is_distinctive(name)), "")


# Nodes and their passages


def _rank(node: Node, rank: int, how: str) -> None:
    node.caption, node.faint = f"{rank}. {node.caption}", False
    node.lines.append(("Rank", how))


def _name_id(name: str, place: str = "") -> str:
    """Return the id of a name's node: the same wherever it is said, but of a date, a number or a common word
    one for each place."""
    return f"name:{normalise(name)}" + ("" if is_distinctive(name) else f":{place}")


def _passage(picture: Picture, passage: str, edge: str = "", sources: Sources | None = None) -> PathStep:
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


def _draw_answer(picture: Picture, answer: Answer, ends: Sequence[Node]) -> str:
    """Mark the node that is the answer, or add one after the `ends`; return its id, "" where nothing is
    said."""
    text = answer.answer if answer.answer is not None else "Not in memory" if answer.abstained else None
    if text is None:
        return ""
    node = next((end for end in ends if normalise(end.caption) == normalise(text)), None)
    if node is None:
        column = picture.last_column() + 1
        picture.head(column, "Answer")
        node = picture.node("answer", "Answer", text, column)
        for end in ends or [picture.nodes[QUESTION]]:
            picture.edge(end.id, node.id, sources=end.behind, faint=answer.abstained)
    node.answer = not answer.abstained
    node.lines.insert(0, ("Answer", picture.said))
    for citation in answer.citations:
        add_sources(node, {citation.passage: [clean(citation.text)]})
    return node.id
