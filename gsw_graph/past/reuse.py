"""What an earlier answer is good for when its question comes again.

Confirmed, and asked for in words that leave nothing open: it is the answer. Else it points at evidence: a
language model reads what it cited, or, without a model, its plan is followed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.answer.evidence import Item, cut, flat
from gsw_graph.errors import ReplyError
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.past.recall import recall
from gsw_graph.plan import Plan, parse
from gsw_graph.results import Citation, PastAnswer
from gsw_graph.retrieve.strategy import AnswerDraft, Retrieved

if TYPE_CHECKING:
    from gsw_graph.past.recall import Recalled
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.strategy import Query
    from gsw_graph.store.past import PastQuestion

ROOM = 250  # tokens of the lines that a model is shown
_PAIR = 50  # tokens of a pair at most
_WHY = "the question was asked before"


@dataclass(frozen=True, slots=True)
class Reused:
    """What became of an earlier question: an answer with its evidence, or a plan to follow."""

    past: PastAnswer
    found: Retrieved | None = None
    plan: Plan | None = None


def reuse(query: Query, context: Context) -> Reused | None:
    """What an earlier question brings for this one, if there is one that may be used."""
    recalled = recall(query.question, context)
    if recalled is None:
        return None
    old = recalled.past
    if recalled.confirmed and recalled.likeness == "same":
        return _found(recalled, _draft(old), "answer")
    if context.llm is not None:
        if old.model == context.llm.model and query.question.split() == old.question.split():
            return None  # word for word its replies are kept, and cost nothing
        draft = _read(query.question, old, context)
        return None if draft is None else _found(recalled, draft, "evidence")
    if recalled.likeness == "same" and old.plan:
        return Reused(_named(recalled, "plan"), plan=parse(old.plan))
    return None


def _found(recalled: Recalled, draft: AnswerDraft, used: str) -> Reused:
    old, past = recalled.past, _named(recalled, used)
    passages = [quoted.passage for quoted in old.quotes]
    plan = parse(old.plan) if old.plan else None
    return Reused(past, Retrieved(passages, draft=draft, plan=plan, ran=old.strategy, why=_WHY, past=past))


def _named(recalled: Recalled, used: str) -> PastAnswer:
    """The question an answer came from. One whose own answer was taken as it was names its source."""
    old = recalled.past
    id_, question, asked_at = old.id, old.question, old.asked_at
    if old.source is not None and old.answer_source == "past":
        id_, question, _, asked_at = old.source
    return PastAnswer(id_, question, old.answer, recalled.confirmed, asked_at, used)


def _draft(old: PastQuestion) -> AnswerDraft:
    citations = [
        Citation(one.passage.id, one.passage.document, one.passage.title, one.passage.source, one.text)
        for one in old.quotes
    ]
    return AnswerDraft(old.answer, "past", False, old.confidence, citations, inferred=old.inferred)


def _read(question: str, old: PastQuestion, context: Context) -> AnswerDraft | None:
    """What the language model reads from the evidence of an earlier answer, which it does not see; None where
    it reads nothing there."""
    from gsw_graph.answer.reader import from_items

    assert context.llm is not None  # noqa: S101 - the caller looked
    judged = bool(old.plan) and not parse(old.plan).steps[-1].retrieve
    with context.clock("answer"):
        try:
            draft = from_items(
                question,
                lines(old),
                context.llm,
                confidence=old.confidence,
                judged=judged,
                task="past",
                on_text=context.on_text,
            )
        except ReplyError:  # the question is asked as if it were new
            return None
    return None if draft.abstained else draft


def lines(old: PastQuestion) -> list[Item]:
    """The pairs of its best chain that stand in passages it cites, then the sentences that it cites."""
    cited = {quoted.passage.id: quoted.passage for quoted in old.quotes}
    items, room = [], ROOM
    for used in old.pairs:
        if used.passage in cited and used.qa.answers:
            text = cut(flat(f"{used.qa.question} {', '.join(used.qa.answers)}"), _PAIR)
            if (room := room - estimate(text)) < 0:
                break
            items.append(Item(text, cited[used.passage], used.qa.question, used.qa.answers[0]))
    for left, quoted in zip(range(len(old.quotes), 0, -1), old.quotes, strict=True):
        title = quoted.passage.title
        own = quoted.text.removeprefix(f"{title}\n")
        text = flat(f"{title}: {own}" if title and title not in own else own)
        text = cut(text, max(room // left, _PAIR))
        room -= estimate(text)
        items.append(Item(text, quoted.passage))
    return items
