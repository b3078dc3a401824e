"""Complete an answer: search once for the part that the model calls missing, and let the model answer again
from all lines. A part of a question may need other passages than the whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import BUDGET, single_line, truncate_tokens
from gsw_graph.ask.answer.quotes import related_coverage
from gsw_graph.ask.retrieve.agents import Team
from gsw_graph.ask.retrieve.recipes import AutoRecipe
from gsw_graph.ask.retrieve.strategies.auto import search_fitting
from gsw_graph.ask.strategy import Query
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.request import estimate
from gsw_graph.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.ask.answer.evidence import EvidenceLine
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.strategy import AnswerDraft, RetrievalResult
    from gsw_graph.model.results import RankedPassage

_FOUND = 5  # passages of the search
_READ = 2  # of them that are read, at most
_COVERED = 0.5  # share of the words of the question for what is missing that such a passage has at least
_LEAST = 50  # tokens of a line that is cut
_QUERY = 200  # characters of that question


def complete(
    context: RetrievalContext,
    draft: AnswerDraft,
    items: Sequence[EvidenceLine],
    show: Callable[[list[RankedPassage]], list[EvidenceLine]],
    read: Callable[[list[EvidenceLine]], AnswerDraft],
) -> AnswerDraft:
    """Search for the missing part of a draft, and let the model answer from the old and the new lines.

    Args:
        context: The memory, within the scope of the question.
        draft: An answer with a part missing, or none.
        items: The lines that the model was shown.
        show: Returns the lines of passages.
        read: Has the model answer from lines.

    Returns:
        The new answer; the draft if the search finds nothing new or the model gives no answer.
    """
    missing = single_line(draft.missing or "")[:_QUERY]
    shown = {item.passage.id for item in items}
    found = [passage for passage in _search(context, missing) if passage.id not in shown]
    new = [passage for passage in found if _fits(missing, passage)][:_READ]
    lines = show(new) if new else []
    if not lines:
        return draft
    context.notes.append(f"what was missing was searched for once more: {missing}")
    try:
        completed = read(_in_budget(draft, items, lines))
    except InvalidReplyError as error:
        context.notes.append(f"the answer was not completed: {error}")
        return draft
    return draft if completed.answer is None else completed


def _in_budget(
    draft: AnswerDraft, items: Sequence[EvidenceLine], lines: Sequence[EvidenceLine]
) -> list[EvidenceLine]:
    """Return old and new lines within the tokens of one reading. New lines get the rest of the budget, at
    least half. Old lines give way from the last on, lines that the draft does not cite first."""
    size = _size(items)
    new = _beginnings(lines, max(BUDGET - size, BUDGET // 2))
    left = BUDGET - _size(new)
    if size <= left:
        return [*items, *new]
    cited = {citation.passage for citation in draft.citations}
    cited_first = sorted(items, key=lambda item: item.passage.id not in cited)
    return [*_beginnings(cited_first, left), *new]


def _size(items: Sequence[EvidenceLine]) -> int:
    return sum(estimate(item.text) for item in items)


def _beginnings(items: Sequence[EvidenceLine], tokens: int) -> list[EvidenceLine]:
    """Return the first lines that fit in so many tokens. The last one is cut, unless it is of facts."""
    first: list[EvidenceLine] = []
    for item in items:
        size = estimate(item.text)
        if size > tokens:
            if tokens >= _LEAST and item.run is None:
                first.append(replace(item, text=truncate_tokens(item.text, tokens)))
            break
        first.append(item)
        tokens -= size
    return first


def _search(context: RetrievalContext, missing: str) -> list[RankedPassage]:
    def run(part: RetrievalContext) -> RetrievalResult:
        return search_fitting(part, Query(missing, k=_FOUND, answer=False), AutoRecipe())

    agent = Team(context).agent("completion")
    found = agent.search("search", missing, run, (), lambda retrieved: retrieved.passages)
    return found.passages


def _fits(missing: str, passage: RankedPassage) -> bool:
    text_words = content_words(f"{passage.title} {passage.text}")
    return related_coverage(content_words(missing), text_words) >= _COVERED
