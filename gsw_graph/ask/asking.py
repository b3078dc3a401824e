"""A question from end to end: plan -> retrieve -> answer -> report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.chains import DOUBTED_BELOW, from_chains, shown
from gsw_graph.ask.answer.counting import LOOKED_AT, asks_for_all, left_out
from gsw_graph.ask.answer.evidence import (
    BELOW,
    chains,
    compact,
    disagreements,
    gather,
    lines,
    passages,
)
from gsw_graph.ask.conflicts import weighed, with_conflicts
from gsw_graph.ask.options import MAX_PASSAGES, AskOptions
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.ask.retrieve.strategies.auto import AUTO, added_answer, search_fitting
from gsw_graph.ask.retrieve.variants import parse_variant
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved, Strategy
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.model.results import Answer, Trace
from gsw_graph.models.chat.chat import Spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.answer.evidence import Item, Show
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.models.chat.chat import QuestionModel


@dataclass(frozen=True)
class Planned:
    """A query and where its plan is from. source: "given" or "llm". note: Why the language model made no
    plan."""

    query: Query
    source: str | None = None
    note: str | None = None


def prepared(question: str, options: AskOptions) -> tuple[Strategy[Any], Planned]:
    """Return the strategy and the query of a question. Raises InputError where they do not fit."""
    strategy = options.strategy
    if isinstance(strategy, str):
        strategy = parse_variant(strategy).build()
    if options.has_plan and not strategy.follows_plan:
        followers = [
            name for name, follower in strategies().items() if follower.follows_plan and name != "auto"
        ]
        raise InputError(
            f"{strategy.name} does not follow a plan",
            hint=f"Ask without one, or with --strategy {' or '.join(followers)}",
        )
    if not question.strip():
        raise InputError("the question is empty")
    plan = parse(options.plan) if options.has_plan else None
    query = Query(question, plan, options.k, options.answer)
    return strategy, Planned(query, "given" if plan else None)


def ask(strategy: Strategy[Any], planned: Planned, context: Context) -> Answer:
    """Answer a question by a memory that is not empty.

    Args:
        strategy: The strategy.
        planned: The query, with the plan of the user if there is one.
        context: The memory, its models, and the options of the question.
    """
    start = perf_counter()
    if "llm" in strategy.needs and context.llm is None:
        raise InputError(
            f"{strategy.name} needs a language model",
            hint="Name one by --llm or GSWGRAPH_LLM, or ask with another strategy",
        )
    retrieved: Retrieved | None = None
    added = _added(strategy, planned.query, context)
    if added is not None:
        strategy = replace(strategy, run=search_fitting)  # no model is asked
    elif context.options.may_reuse:
        from gsw_graph.ask.question_cache import answer_from_cache

        retrieved = answer_from_cache(planned.query, context)
    if retrieved is not None:
        passages = retrieved.passages
    else:
        if added is None and context.options.plan is not False and planned.query.plan is None:
            planned = _plan(strategy, planned, context)
        retrieved, passages = _search(strategy, planned.query, context)
        retrieved = replace(retrieved, draft=added or retrieved.draft)
        if planned.query.answer:
            retrieved = with_conflicts(context, retrieved)
    draft, note = _answer(strategy, planned.query, retrieved, context)
    draft = weighed(replace(draft, missing=_missing(retrieved, draft, context)), retrieved.conflicts)
    seconds = {**context.seconds, "total": perf_counter() - start}
    answer = _report(strategy, planned, retrieved, draft, context, note, seconds)
    answer = replace(answer, passages=passages)
    return answer if context.options.trace else replace(answer, trace=None)


def empty_answer(strategy: Strategy[Any], planned: Planned, llm: QuestionModel | None) -> Answer:
    """Return the answer of an empty memory. llm: The language model of the answer, which is not asked."""
    query, spent = planned.query, _spent(llm)
    ran = strategy.name if strategy.name != "auto" else "fusion" if query.plan else "linked"
    return Answer(
        question=query.question,
        strategy=ran,
        answer=None,
        answer_source="none",
        abstained=True,
        confidence=None,
        missing="the memory is empty",
        citations=[],
        passages=[],
        chains=[],
        plan=query.plan.to_list() if query.plan else None,
        plan_source=planned.source,
        round_trips=0,
        seconds={"total": 0.0},
        tokens={**spent.tokens, "evidence": 0, "prompt": 0},
        dollars=spent.dollars,
        models={"embedder": None, "reranker": None, "llm": llm.model if llm else None},
    )


def _added(strategy: Strategy[Any], query: Query, context: Context) -> AnswerDraft | None:
    """Return the answer that a person added to a question. It wins over an earlier answer and a language
    model."""
    if strategy.name != AUTO.name or query.plan is not None or not query.answer:
        return None
    return added_answer(context, query.question)


def _search(strategy: Strategy[Any], query: Query, context: Context) -> tuple[Retrieved, list[RankedPassage]]:
    """Search, and return what was found with the passages to return: `query.k` that were not shown before, as
    long as there are any. The answer comes from the same passages, whatever was shown."""
    shown_ids = set(context.options.shown)
    counts = (strategy.steady or strategy.name == AUTO.name) and asks_for_all(query.question)
    below = BELOW if context.llm is not None and query.answer else 0
    wide = query.k + len(shown_ids)
    if counts:
        wide, below = max(wide, LOOKED_AT), below and LOOKED_AT
    if wide == query.k:
        retrieved = strategy(context, replace(query, below=below))
        return retrieved, retrieved.passages
    retrieved = strategy(context, replace(query, k=min(wide, MAX_PASSAGES)))
    found = retrieved.passages
    new = [passage for passage in found if passage.id not in shown_ids]
    if shown_ids and len(new) < query.k and "embedder" in context.used:  # the strategy looks no further
        new += _nearest(context, query, found)
    if counts and query.answer and not below:
        returned = {passage.id for passage in new[: query.k]} | shown_ids
        context.notes += filter(None, [left_out(query.question, found, returned, "shown")])
    first, rest = found[: query.k], [*found[query.k :], *retrieved.below]
    return replace(retrieved, passages=first, below=rest[:below]), new[: query.k]


def _nearest(context: Context, query: Query, found: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return passages near a question that were neither found nor shown, with scores below the others."""
    known = {*context.options.shown, *(passage.id for passage in found)}
    lowest = min((passage.score for passage in found), default=1.0)
    vector = context.vector(query.question).tolist()
    with context.clock("database"):
        nearest = context.reader.dense(vector, min(query.k + len(known), MAX_PASSAGES))
    return [replace(item, score=min(item.score, lowest)) for item in nearest if item.id not in known]


def _plan(strategy: Strategy[Any], planned: Planned, context: Context) -> Planned:
    """Have the model make a plan, or note why it made none. No plan is made without pairs, which its steps
    search, nor for a strategy that makes its own."""
    llm = context.llm
    if llm is None or not strategy.follows_plan or strategy.makes_plan or not context.has_pairs:
        return planned
    from gsw_graph.ask.plan import decompose

    with context.clock("plan"):
        try:
            return Planned(replace(planned.query, plan=decompose(planned.query.question, llm)), "llm")
        except ReplyError as error:
            return replace(planned, note=f"{llm.model} made no plan: {error}")


def _answer(
    strategy: Strategy[Any], query: Query, retrieved: Retrieved, context: Context
) -> tuple[AnswerDraft, str | None]:
    """Return the strategy's own answer, else that of its chains or of the language model; and a note why the
    language model gave none."""
    if retrieved.draft is not None:
        return retrieved.draft, None
    ran = strategies().get(retrieved.ran or "", strategy)  # not every strategy is in the table
    draft = from_chains(query.question, retrieved, context.confidence(ran), answer=query.answer)
    if draft.answer is not None and not draft.citations:  # its documents were replaced meanwhile
        draft = replace(draft, answer=None, source="none", abstained=True)
    doubt = draft.confidence is not None and draft.confidence < DOUBTED_BELOW
    if context.options.strict and doubt:
        return replace(draft, answer=None, source="none", abstained=True, citations=[]), None
    if context.llm is None or not query.answer:
        return draft, None
    from gsw_graph.ask.answer.reader import from_items

    plan = retrieved.beams.plan if retrieved.beams is not None else retrieved.plan
    items = _shown(query.question, retrieved, context)
    if asks_for_all(query.question):
        read = {item.passage.id for item in items}
        every = [*retrieved.passages, *retrieved.below]
        context.notes += filter(None, [left_out(query.question, every, read, "read")])
    with context.clock("answer"):
        try:
            return from_items(
                query.question,
                items,
                context.llm,
                confidence=draft.confidence if retrieved.beams is not None else None,
                judged=plan is not None and not plan.steps[-1].retrieve,
                task=retrieved.reader,
                must=context.options.must_answer,
                doubt=doubt and retrieved.beams is None,  # chains that do not reach an end say nothing
                on_text=context.on_text,
            ), None
        except ReplyError as error:  # the passages are still useful
            return draft, f"{context.llm.model} gave no answer: {error}"


def _shown(question: str, retrieved: Retrieved, context: Context) -> list[Item]:
    """Return the evidence for the language model, in the form that the options or else the strategy name,
    with contradictions."""
    if context.options.evidence is None and retrieved.items is not None:
        return [*retrieved.items, *disagreements(retrieved, retrieved.items)]
    forms: dict[str, Show] = {
        "lines": lines,
        "chains": chains,
        "passages": passages,
        "compact": partial(compact, context),
    }
    items = gather(question, retrieved, forms[context.options.evidence or retrieved.evidence])
    return [*items, *disagreements(retrieved, items)]


def _missing(retrieved: Retrieved, draft: AnswerDraft, context: Context) -> str | None:
    """Return what the evidence lacks or, where nothing was found, what the memory lacks."""
    if not draft.abstained or (retrieved.beams is not None and retrieved.beams.ends()):
        return draft.missing
    if not retrieved.passages and not context.reader.size()[1]:
        return "the memory is empty"
    if retrieved.beams is not None and not context.has_pairs:
        return "the memory holds no question-answer pairs, of which chains are made"
    return draft.missing


def _report(
    strategy: Strategy[Any],
    planned: Planned,
    retrieved: Retrieved,
    draft: AnswerDraft,
    context: Context,
    note: str | None,
    seconds: dict[str, float],
) -> Answer:
    plan, spent = planned.query.plan or retrieved.plan, _spent(context.llm)
    first = note or planned.note or retrieved.note
    if context.trace is not None:
        reranker = context.used.get("reranker")
        context.trace.reranker = reranker if reranker != "cosine" else None
        context.trace.exchanges = context.llm.exchanges if context.llm is not None else []
    return Answer(
        question=planned.query.question,
        strategy=retrieved.ran or strategy.name,
        answer=draft.answer,
        answer_source=draft.source,
        abstained=draft.abstained,
        confidence=draft.confidence,
        missing=draft.missing,
        citations=draft.citations,
        passages=retrieved.passages,
        chains=shown(retrieved),
        plan=plan.to_list() if plan else None,
        plan_source=planned.source or ("llm" if retrieved.plan else None),
        note="; ".join(dict.fromkeys(filter(None, [first, *context.notes]))) or None,
        round_trips=context.reader.round_trips,
        seconds=seconds,
        tokens={**spent.tokens, "evidence": 0, "prompt": 0, **draft.tokens},
        dollars=spent.dollars,
        calls=spent.calls,
        failed_calls=spent.failed_calls,
        kept=spent.kept,
        conflicts=retrieved.conflicts,
        inferred=draft.inferred,
        models={kind: context.used.get(kind) for kind in ("embedder", "reranker", "llm")},
        trace=context.trace if context.trace != Trace() else None,  # empty if the strategy wrote none
        why=retrieved.why,
        cached=retrieved.cached,
    )


def _spent(llm: QuestionModel | None) -> Spent:
    return llm.spent() if llm else Spent({"in": 0, "out": 0, "plan": 0}, None, [])
