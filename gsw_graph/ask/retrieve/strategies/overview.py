"""The strategy `overview`: several calls of the language model read passages that cover the scope, and write
statements with the passages that they come from; the call that answers joins the statements.
docs/answering.md.

The global search of GraphRAG (Edge 2024) reads summaries of communities that a model wrote at the load. Ours
reads passages, chosen by the question and the graph: nothing is paid for before somebody asks, and each
statement is cited down to a passage.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.evidence import EvidenceLine, render_evidence, single_line, truncate_tokens
from gsw_graph.ask.answer.invention import Known
from gsw_graph.ask.answer.quotes import Said
from gsw_graph.ask.answer.statements import split
from gsw_graph.ask.retrieve.agents import Team, request_for, side_by_side
from gsw_graph.ask.retrieve.cover import Side, cover
from gsw_graph.ask.retrieve.overviews import OverviewQuestion, overview_question
from gsw_graph.ask.retrieve.recipes import OverviewRecipe
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.limits import QuestionBudget
from gsw_graph.models.chat.request import answer_text, estimate
from gsw_graph.values import unique

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gsw_graph.ask.answer.statements import Part
    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import RankedPassage

_LIMIT = 900  # tokens of a reply
_STATEMENT = 80  # tokens of a statement
_MOST = 10  # statements of a group
_GROUPS = 16  # read at the same time at most
# Tokens of prompts and of replies for each token of passages; and the share of the budget that is left over,
# as a server may count more tokens than are estimated.
_IN, _OUT, _LEFT = 1.26, 0.14, 0.15
_JOIN_TOKENS = (1_200, 700)  # of its prompt beside the statements and of its reply; it may be asked again
_LEAST = 300  # tokens of passages, however small the budget is
_NOTHING = re.compile(r"\W*(?:nothing|none)\b.{0,80}", re.IGNORECASE | re.DOTALL)
_FORM = 'Write each statement in a line that ends with the number of its passage, as [2], or write "Nothing"'


def retrieve(context: RetrievalContext, query: Query, recipe: OverviewRecipe) -> RetrievalResult:
    """Choose passages, and let the language model take statements from them, which are the evidence of the
    answer."""
    wanted = overview_question(query.question) or OverviewQuestion(query.question)
    tokens = _readable(context, recipe)
    team = Team(context)
    sides = team.agent("cover").search(
        "cover",
        wanted.topic or "all documents",
        partial(cover, wanted=wanted, tokens=tokens, recipe=recipe),
        ["read/cover_documents", "read/cover_passages", "read/passages"],
        _passages,
    )
    passages = _passages(sides)
    why = "the question asks for an overview" if context.options.strategy == "auto" else None
    if not query.answer:
        return RetrievalResult(passages[: query.k], why=why)
    groups: list[Group] = []
    for side in sides:
        groups += in_groups(side, max(recipe.group, tokens // _GROUPS))
    items, unread, note = _statements(team, query.question, groups)
    if note and not items:  # an answer from the first passages is left
        return RetrievalResult(passages[: query.k], note=note, why=why)
    context.notes.append(read_of(sides, unread))
    taken = [item.passage for item in items]
    ranked = unique(taken + passages)
    reader = "answer" if context.options.short else "overview_join"
    return RetrievalResult(ranked[: query.k], items=items, prompt_name=reader, note=note, why=why)


def _passages(sides: Sequence[Side]) -> list[RankedPassage]:
    return [item.passage for side in sides for item in side.items]


def _readable(context: RetrievalContext, recipe: OverviewRecipe) -> int:
    """Return how many tokens of passages fit in the budget of the question; without one it gets the usual
    one."""
    llm = context.llm
    if llm is None:  # the strategy needs one
        return recipe.budget
    if llm.budget is None:
        llm.budget = QuestionBudget(recipe.budget, "tokens")
    budget = llm.budget
    left = budget.limit * (1 - _LEFT) - budget.spent - budget.cost(*_JOIN_TOKENS)
    per_token = budget.cost(_IN, _OUT)
    return max(int(left / per_token), _LEAST) if per_token else recipe.budget


def read_of(sides: Sequence[Side], unread: Collection[str] = ()) -> str:
    """Say how much of the scope was read. unread: ids of passages that were chosen and could not be read."""
    parts = []
    for side in sides:
        number = sum(item.passage.id not in unread for item in side.items)
        plural = "" if side.documents == 1 else "s"
        text = f"{number:,} of {side.passages:,} passages of {side.documents:,} document{plural}"
        parts.append(f"{side.time}: {text}" if side.time else text)
    return f"read {'; '.join(parts)}"


class Group(NamedTuple):
    """Hold the passages of one call, and their time if times are compared."""

    time: str
    items: list[EvidenceLine]


def in_groups(side: Side, tokens: int) -> list[Group]:
    """Split the passages of a time into groups of about so many tokens."""
    groups: list[Group] = []
    left = 0
    for item in side.items:
        size = estimate(item.text)
        if size > left:
            groups.append(Group(side.time, []))
            left = tokens
        groups[-1].items.append(item)
        left -= size
    return groups


def _statements(
    team: Team, question: str, groups: Sequence[Group]
) -> tuple[list[EvidenceLine], set[str], str | None]:
    """Return the statements of all groups, the ids of passages that could not be read, and why."""
    readers = []
    for number, group in enumerate(groups, 1):
        readers.append(partial(_extract, team.agent(f"reader {number}"), question, group))
    results = side_by_side(team, readers) if readers else []
    items: list[EvidenceLine] = []
    unread: set[str] = set()
    note = None
    for group, result in zip(groups, results, strict=True):
        if isinstance(result, InvalidReplyError):
            unread.update(item.passage.id for item in group.items)
            note = f"some passages were not read: {result}"
        else:
            items += result
    return items, unread, note


def _extract(agent: Agent, question: str, group: Group) -> list[EvidenceLine] | InvalidReplyError:
    """Return the statements that the model takes from a group of passages, or why there are none.

    A statement with a name or a number that none of its own passages has is left out: its citation would
    prove nothing.
    """
    about = f"These passages are of {group.time}.\n" if group.time else ""
    text = f"{render_evidence(group.items)}\n\n{about}Question: {single_line(question)}"
    request = request_for("overview_extract", text, limit=_LIMIT)
    try:
        parts = agent.ask(request, parse_extracts, f"what do {len(group.items)} passages say?", _described)
    except InvalidReplyError as error:
        return error
    statements = []
    for part in parts[:_MOST]:
        named = [group.items[number - 1] for number in part.lines if 0 < number <= len(group.items)]
        if named and not Known.of(question, named).invented(part.text):
            passage = _nearest(part.text, named)
            place = group.time or passage.title
            statements.append(
                EvidenceLine(truncate_tokens(single_line(f"{place}: {part.text}"), _STATEMENT), passage)
            )
    return statements


def _nearest(statement: str, named: Sequence[EvidenceLine]) -> RankedPassage:
    """Return the passage that has the most words of a statement, the first of several: an item has one."""
    said = Said.of(statement)
    return max(named, key=lambda item: said.share(item.text)).passage


def _described(parts: Sequence[Part]) -> str:
    return " ".join(part.text for part in parts) or "nothing"


def parse_extracts(reply: object) -> list[Part]:
    """Read statements; there may be none. Raises ValueError if no statement has a number and the reply does
    not say that there is nothing."""
    text = answer_text(str(reply)).strip()
    parts = [part for part in split(text) if part.lines]
    if not parts and not _NOTHING.fullmatch(text):
        raise ValueError(f"the reply has no statement with a number. {_FORM}")
    return parts


OVERVIEW = Strategy(
    "overview",
    "an overview of all documents, some, or a topic: several calls read passages that cover them; needs a "
    "language model",
    retrieve,
    OverviewRecipe(),
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
