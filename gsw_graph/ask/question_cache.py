"""The question cache: answer a question from the evidence of an earlier answer.

Vectors find the earlier question. They do not distinguish "Where was she born?" from "Where did she die?", so
they never decide: an earlier answer is returned if people confirmed it and the questions have the same words
in the same order; else the language model, if one is set, answers from the citations of the earlier answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import EvidenceLine, single_line, titled_text, truncate_tokens
from gsw_graph.ask.answer.reader import from_items
from gsw_graph.ask.strategy import AnswerDraft, Query, RetrievalResult
from gsw_graph.errors import InvalidReplyError
from gsw_graph.model.results import CachedAnswer, Citation
from gsw_graph.models.chat.request import estimate
from gsw_graph.store.questions import CachedQuestion, near
from gsw_graph.text.names import normalise
from gsw_graph.text.words import words

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import RetrievalContext

LEAST_COSINE = 0.75  # of two wordings; other questions of three data sets come to 0.80 at most
_CANDIDATES = 10
_EVIDENCE, _PAIR = 250, 50  # tokens that a model is shown, and of a pair
_WHY = "the question was asked before"


def answer_from_cache(query: Query, context: RetrievalContext) -> RetrievalResult | None:
    """Answer a question from an earlier one.

    Returns:
        The earlier answer's passages with a draft of the answer; None if no earlier question fits.
    """
    vector = context.vector(query.question).tolist()
    with context.clock("database"):
        candidates = [old for old in near(context.reader, vector, _CANDIDATES) if old.cosine >= LEAST_COSINE]
    question_words = words(query.question)

    def order(old: CachedQuestion) -> tuple[bool, bool, float]:
        return words(old.question) != question_words, old.verdict != "confirmed", -old.cosine

    candidates.sort(key=order)
    rejected = {normalise(old.answer) for old in candidates if old.verdict == "rejected"}
    for old in candidates:
        is_unjudged = not old.verdict and normalise(old.answer) not in rejected
        if old.is_citable and (old.verdict == "confirmed" or is_unjudged):
            return _answer_from(old, query.question, context)
    return None


def _answer_from(old: CachedQuestion, question: str, context: RetrievalContext) -> RetrievalResult | None:
    llm = context.llm
    used = "evidence"
    if old.verdict == "confirmed" and words(old.question) == words(question):
        used = "answer"
        citations = []
        for quote in old.quotes:
            cited = quote.passage
            citations.append(Citation(cited.id, cited.document, cited.title, cited.source, quote.text))
        draft = AnswerDraft(old.answer, "cache", False, old.confidence, citations, inferred=old.inferred)
    elif llm is None:
        return None
    elif old.model == llm.model and question.split() == old.question.split():
        return None  # word for word the model's replies are cached, and cost nothing
    else:
        last = old.plan[-1] if old.plan else {}
        is_comparison = not last.get("retrieve", True)
        with context.clock("answer"):
            try:
                draft = from_items(
                    question,
                    evidence(old),
                    llm,
                    confidence=old.confidence,
                    is_comparison=is_comparison,
                    task="answer_cached",
                    on_text=context.on_text,
                )
            except InvalidReplyError:  # the question is asked as if it were new
                return None
        if draft.abstained:
            return None
    id_, asked, asked_at = old.source or (old.id, old.question, old.asked_at)
    cached = CachedAnswer(id_, asked, old.answer, old.verdict == "confirmed", asked_at, used)
    passages = [quote.passage for quote in old.quotes]
    return RetrievalResult(passages, draft=draft, ran=old.strategy, why=_WHY, cached=cached)


def evidence(old: CachedQuestion) -> list[EvidenceLine]:
    """List the pairs of an answer's best chain that occur in passages it cites, then the sentences it
    cites."""
    cited = {quote.passage.id: quote.passage for quote in old.quotes}
    items, budget = [], _EVIDENCE
    for pair in old.pairs:
        question, answers = pair.qa.question, pair.qa.answers
        if pair.passage in cited and answers:
            text = truncate_tokens(single_line(f"{question} {', '.join(answers)}"), _PAIR)
            budget -= estimate(text)
            if budget < 0:
                break
            items.append(EvidenceLine(text, cited[pair.passage], question, answers[0]))
    left = len(old.quotes)
    for quote in old.quotes:
        title = quote.passage.title
        text = quote.text.removeprefix(f"{title}\n")
        if title not in text:
            text = titled_text(quote.passage, text)
        text = truncate_tokens(single_line(text), max(budget // left, _PAIR))
        left -= 1
        budget -= estimate(text)
        items.append(EvidenceLine(text, quote.passage))
    return items
