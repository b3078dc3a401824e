"""The question cache: answer a question from the evidence of an earlier answer.

Vectors find the earlier question. They do not distinguish "Where was she born?" from "Where did she die?", so
they never decide: an earlier answer is returned if people confirmed it and the questions have the same words
in the same order; else a language model, where one is set, answers from the citations of the earlier answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import Item, cut, flat
from gsw_graph.ask.answer.reader import from_items
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved
from gsw_graph.errors import ReplyError
from gsw_graph.model.results import CachedAnswer, Citation
from gsw_graph.models.chat.request import estimate
from gsw_graph.store.questions import CachedQuestion, near
from gsw_graph.text.names import normalise
from gsw_graph.text.words import words

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context

LEAST_COSINE = 0.75  # of two wordings; other questions of three data sets come to 0.80 at most
_CANDIDATES = 10
_EVIDENCE, _PAIR = 250, 50  # tokens that a model is shown, and of a pair
_WHY = "the question was asked before"


def answer_from_cache(query: Query, context: Context) -> Retrieved | None:
    """Answer a question from an earlier one.

    Returns:
        The earlier answer's passages with a draft of the answer, or None where no earlier question serves.
    """
    vector = context.vector(query.question).tolist()
    with context.clock("database"):
        candidates = [old for old in near(context.reader, vector, _CANDIDATES) if old.cosine >= LEAST_COSINE]
    question_words = words(query.question)
    candidates.sort(
        key=lambda old: (words(old.question) != question_words, old.verdict != "confirmed", -old.cosine)
    )
    rejected = {normalise(old.answer) for old in candidates if old.verdict == "rejected"}
    usable = [
        old
        for old in candidates
        if old.is_citable
        and (old.verdict == "confirmed" or not (old.verdict or normalise(old.answer) in rejected))
    ]
    if not usable:
        return None
    old = usable[0]
    if old.verdict == "confirmed" and words(old.question) == question_words:
        citations = [
            Citation(
                quote.passage.id,
                quote.passage.document,
                quote.passage.title,
                quote.passage.source,
                quote.text,
            )
            for quote in old.quotes
        ]
        draft = AnswerDraft(old.answer, "cache", False, old.confidence, citations, inferred=old.inferred)
        return _retrieved(old, draft, "answer")
    if context.llm is None or (
        old.model == context.llm.model and query.question.split() == old.question.split()
    ):
        return None  # word for word the model's replies are cached, and cost nothing
    read = _read(query.question, old, context)
    return None if read is None else _retrieved(old, read, "evidence")


def _read(question: str, old: CachedQuestion, context: Context) -> AnswerDraft | None:
    """Have the model answer from what an earlier answer cites; None where that holds no answer."""
    assert context.llm is not None  # noqa: S101 - the caller looked
    with context.clock("answer"):
        try:
            draft = from_items(
                question,
                evidence(old),
                context.llm,
                confidence=old.confidence,
                judged=bool(old.plan) and not old.plan[-1].get("retrieve", True),
                task="answer_cached",
                on_text=context.on_text,
            )
        except ReplyError:  # the question is asked as if it were new
            return None
    return None if draft.abstained else draft


def _retrieved(old: CachedQuestion, draft: AnswerDraft, used: str) -> Retrieved:
    id_, question, asked_at = old.source or (old.id, old.question, old.asked_at)
    cached = CachedAnswer(id_, question, old.answer, old.verdict == "confirmed", asked_at, used)
    passages = [quote.passage for quote in old.quotes]
    return Retrieved(passages, draft=draft, ran=old.strategy, why=_WHY, cached=cached)


def evidence(old: CachedQuestion) -> list[Item]:
    """List the pairs of an answer's best chain that occur in passages it cites, then the sentences it
    cites."""
    cited = {quote.passage.id: quote.passage for quote in old.quotes}
    items, budget = [], _EVIDENCE
    for pair in old.pairs:
        if pair.passage in cited and pair.qa.answers:
            text = cut(flat(f"{pair.qa.question} {', '.join(pair.qa.answers)}"), _PAIR)
            if (budget := budget - estimate(text)) < 0:
                break
            items.append(Item(text, cited[pair.passage], pair.qa.question, pair.qa.answers[0]))
    for left, quote in zip(range(len(old.quotes), 0, -1), old.quotes, strict=True):
        title = quote.passage.title
        text = quote.text.removeprefix(f"{title}\n")
        text = cut(
            flat(f"{title}: {text}" if title and title not in text else text), max(budget // left, _PAIR)
        )
        budget -= estimate(text)
        items.append(Item(text, quote.passage))
    return items
