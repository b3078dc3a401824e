"""Answer a question from end to end: plan -> retrieve -> answer -> report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.chains import DOUBTED_BELOW, from_chains, shown
from gsw_graph.ask.answer.counting import LOOKED_AT, asks_for_all, left_out
from gsw_graph.ask.answer.evidence import BELOW, FORMS, compact, disagreements, select_evidence
from gsw_graph.ask.answer.reader import IN_FULL, NOT_SAID, NOTHING_FOUND, UNSUPPORTED, from_items, in_full
from gsw_graph.ask.completing import complete
from gsw_graph.ask.conflicts import discount_confidence, with_conflicts
from gsw_graph.ask.conversation import completed
from gsw_graph.ask.options import MAX_PASSAGES, AskOptions
from gsw_graph.ask.plan import decompose, parse
from gsw_graph.ask.question_cache import answer_from_cache
from gsw_graph.ask.retrieve.overviews import overview_question
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.ask.retrieve.strategies.auto import AUTO, added_answer, search_fitting
from gsw_graph.ask.retrieve.strategies.overview import OVERVIEW
from gsw_graph.ask.retrieve.variants import parse_variant
from gsw_graph.ask.strategy import AnswerDraft, Query, RetrievalResult, Strategy
from gsw_graph.ask.text_to_cypher import answer_from_graph
from gsw_graph.errors import InputError, InvalidReplyError
from gsw_graph.model.results import Answer, Statement, Trace
from gsw_graph.models.chat.chat import Spent
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.answer.evidence import EvidenceLine, Show
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.models.chat.chat import QuestionModel


def prepare_query(question: str, options: AskOptions) -> tuple[Strategy[Any], Query]:
    """Return the strategy and the query of a question.

    Raises:
        InputError: The question is empty, or the strategy does not follow the given plan.
    """
    strategy = options.strategy
    if isinstance(strategy, str):
        strategy = parse_variant(strategy).build()
    if options.has_plan and not strategy.follows_plan:
        followers = [name for name, other in strategies().items() if other.follows_plan and name != "auto"]
        hint = f"Ask without one, or with --strategy {' or '.join(followers)}"
        raise InputError(f"{strategy.name} does not follow a plan", hint=hint)
    if not question.strip():
        raise InputError("the question is empty")
    query = Query(question, k=options.k, answer=options.answer)
    if options.has_plan:
        query = replace(query, plan=parse(options.plan), plan_source="given")
    return strategy, query


def ask(strategy: Strategy[Any], query: Query, context: RetrievalContext) -> Answer:
    """Answer a question from a memory that is not empty.

    Args:
        strategy: The strategy.
        query: The query, with the plan of the user if there is one.
        context: The memory, its models, and the options of the question.

    Raises:
        InputError: The strategy needs a language model, and none is set.
    """
    start = perf_counter()
    if "llm" in strategy.needs and context.llm is None:
        raise InputError(
            f"{strategy.name} needs a language model",
            hint="Name one by --llm or GSWGRAPH_LLM, or ask with another strategy",
        )
    question = completed(query.question, context)
    if question != query.question:
        context.notes.append("asked as: " + question)
        query = replace(query, question=question)
    strategy, query, retrieved, passages = _retrieve(strategy, query, context)
    draft, note = _answer(strategy, query, retrieved, context)
    missing = _missing(retrieved, draft, context)
    draft = discount_confidence(replace(draft, missing=missing), retrieved.conflicts)
    context.notes.insert(0, note or query.plan_note or retrieved.note or "")
    context.seconds["total"] = perf_counter() - start
    return _report(strategy, query, retrieved, passages, draft, context)


def _retrieve(
    strategy: Strategy[Any], query: Query, context: RetrievalContext
) -> tuple[Strategy[Any], Query, RetrievalResult, list[RankedPassage]]:
    """Find what answers a question: the answer of a person, an overview, an earlier answer, or a search.

    Returns:
        The strategy that ran, the query with its plan, the result, and the passages to return.
    """
    added = None
    if strategy.name == AUTO.name and query.plan is None and query.answer:
        added = added_answer(context, query.question)
    if added is not None:  # a person's answer wins over the cache and the language model
        strategy = replace(strategy, run=search_fitting)
    elif _wants_overview(strategy, query, context):
        strategy = OVERVIEW
    else:
        retrieved = _without_search(query, context)
        if retrieved is not None:
            return strategy, query, retrieved, retrieved.passages
    if added is None:
        query = _plan(strategy, query, context)
    retrieved, passages = _search(strategy, query, context)
    if added is not None:
        retrieved = replace(retrieved, draft=added)
    if query.answer:
        retrieved = with_conflicts(context, retrieved)
    return strategy, query, retrieved, passages


def _report(
    strategy: Strategy[Any],
    query: Query,
    retrieved: RetrievalResult,
    passages: list[RankedPassage],
    draft: AnswerDraft,
    context: RetrievalContext,
) -> Answer:
    """Return the answer to a question with all that is known of how it was found."""
    notes = dict.fromkeys(filter(None, context.notes))
    trace = context.trace
    if trace is not None:
        reranker = context.models_used.get("reranker")
        trace.reranker = reranker if reranker != "cosine" else None
        trace.exchanges = context.llm.exchanges if context.llm is not None else []
        if trace == Trace():  # the strategy wrote no trace
            trace = None
    plan, plan_source = query.plan, query.plan_source
    if retrieved.plan is not None:
        plan, plan_source = plan or retrieved.plan, plan_source or "llm"
    spent = _spent(context.llm)
    return Answer(
        question=query.question,
        strategy=retrieved.ran or strategy.name,
        answer=draft.answer,
        answer_source=draft.source,
        abstained=draft.abstained,
        confidence=draft.confidence,
        missing=draft.missing,
        citations=draft.citations,
        passages=passages,
        chains=shown(retrieved),
        plan=plan.to_list() if plan else None,
        plan_source=plan_source,
        note="; ".join(notes) or None,
        round_trips=context.reader.round_trips,
        seconds=dict(context.seconds),
        tokens={**spent.tokens, **_NO_TOKENS, **draft.tokens},
        dollars=spent.dollars,
        calls=spent.calls,
        failed_calls=spent.failed_calls,
        kept=spent.kept,
        conflicts=retrieved.conflicts,
        inferred=draft.inferred,
        models={kind: context.models_used.get(kind) for kind in _MODELS},
        trace=trace,
        why=retrieved.why,
        cached=retrieved.cached,
        text=draft.text or draft.answer,
        statements=_statements(draft),
    )


def _wants_overview(strategy: Strategy[Any], query: Query, context: RetrievalContext) -> bool:
    """Tell whether `auto` makes an overview, which needs a language model and is not a short answer."""
    if strategy.name != AUTO.name or query.plan is not None or not query.answer:
        return False
    if context.llm is None or context.options.short:
        return False
    return overview_question(query.question) is not None


def _statements(draft: AnswerDraft) -> list[Statement]:
    """Return the statements of an answer; a short answer is one statement with all citations."""
    if draft.statements or draft.answer is None:
        return draft.statements
    return [Statement(draft.answer, list(range(len(draft.citations))), draft.inferred)]


_NO_TOKENS = {"evidence": 0, "prompt": 0}
_MODELS = ("embedder", "reranker", "llm")


def empty_answer(strategy: Strategy[Any], query: Query, llm: QuestionModel | None) -> Answer:
    """Return the answer of an empty memory. llm: The language model of the answer, which is not asked."""
    spent = _spent(llm)
    ran = strategy.name
    if ran == AUTO.name:
        ran = "fusion" if query.plan else "linked"
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
        plan_source=query.plan_source,
        round_trips=0,
        seconds={"total": 0.0},
        tokens=spent.tokens | _NO_TOKENS,
        dollars=spent.dollars,
        models={**dict.fromkeys(_MODELS), "llm": llm.model if llm else None},
    )


def _spent(llm: QuestionModel | None) -> Spent:
    return llm.spent() if llm else Spent({"in": 0, "out": 0, "plan": 0}, None, [])


def _without_search(query: Query, context: RetrievalContext) -> RetrievalResult | None:
    """Return an answer from a statement over the graph, else from the question cache, else None."""
    options, llm, retrieved = context.options, context.llm, None
    if llm is not None and options.may_query and asks_for_all(query.question):
        retrieved = answer_from_graph(query, context, llm)
    if retrieved is None and options.may_reuse:
        retrieved = answer_from_cache(query, context)
    return retrieved


def _search(
    strategy: Strategy[Any], query: Query, context: RetrievalContext
) -> tuple[RetrievalResult, list[RankedPassage]]:
    """Search, and return the result with the passages to show: at most `query.k` that were not shown before.

    The result keeps the first `query.k` passages, so earlier questions do not change the answer.
    """
    options = context.options
    counts = (strategy.prefix_stable or strategy.name == AUTO.name) and asks_for_all(query.question)
    below = BELOW if context.llm is not None and query.answer else 0
    wide = query.k + len(set(options.shown))
    if counts:
        wide = max(wide, LOOKED_AT)
        below = LOOKED_AT if below else 0
    if wide == query.k:
        retrieved = strategy(context, replace(query, extra_k=below))
        return retrieved, retrieved.passages
    retrieved = strategy(context, replace(query, k=min(wide, MAX_PASSAGES)))
    found = retrieved.passages
    new = [passage for passage in found if passage.id not in options.shown]
    is_embedded = "embedder" in context.models_used
    if options.shown and len(new) < query.k and is_embedded:  # the strategy stopped at its own limit
        new += _nearest(context, query, found)
    new = new[: query.k]
    if counts and query.answer and not below:
        returned = {*options.shown, *(passage.id for passage in new)}
        context.notes += left_out(query.question, found, returned, "shown")
    rest = found[query.k :] + retrieved.extra
    return replace(retrieved, passages=found[: query.k], extra=rest[:below]), new


def _nearest(context: RetrievalContext, query: Query, found: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return passages near a question that were neither found nor shown, with scores below the others."""
    known = {*context.options.shown, *(passage.id for passage in found)}
    lowest = min((passage.score for passage in found), default=1.0)
    vector = context.vector(query.question).tolist()
    wanted = min(query.k + len(known), MAX_PASSAGES)
    with context.clock("database"):
        nearest = context.reader.dense(vector, wanted)
    new = [passage for passage in nearest if passage.id not in known]
    return [replace(passage, score=min(passage.score, lowest)) for passage in new]


def _plan(strategy: Strategy[Any], query: Query, context: RetrievalContext) -> Query:
    """Let the model make a plan, or note why it made none. The strategy must want a plan, and the memory must
    have pairs, which the steps search."""
    llm = context.llm
    wanted = context.options.plan is not False and query.plan is None
    if llm is None or not wanted or not strategy.wants_plan or not context.has_pairs:
        return query
    with context.clock("plan"):
        try:
            return replace(query, plan=decompose(query.question, llm), plan_source="llm")
        except InvalidReplyError as error:
            return replace(query, plan_note=f"{llm.model} made no plan: {error}")


def _answer(
    strategy: Strategy[Any], query: Query, retrieved: RetrievalResult, context: RetrievalContext
) -> tuple[AnswerDraft, str | None]:
    """Return the answer of the strategy, else of the language model, else of the chains; and a note if the
    language model gave no answer."""
    if retrieved.draft is not None:
        return retrieved.draft, None
    question, llm, options = query.question, context.llm, context.options
    ran = strategies().get(retrieved.ran or "", strategy)  # not every strategy is in the table
    draft = from_chains(question, retrieved, context.confidence(ran), answer=query.answer)
    if draft.answer is not None and not draft.citations:  # the cited documents were replaced meanwhile
        draft = replace(draft, answer=None, source="none", abstained=True)
    is_small = draft.confidence is not None and draft.confidence < DOUBTED_BELOW
    doubt = is_small and not retrieved.selected
    if options.strict and doubt:
        return replace(draft, answer=None, source="none", abstained=True, citations=[]), None
    if llm is None or not query.answer:
        return draft, None
    has_chains = retrieved.chain_search is not None
    plan = retrieved.chain_search.plan if retrieved.chain_search is not None else retrieved.plan
    if options.reader == "paper":
        retrieved = replace(retrieved, prompt_name="answer_paper")
    items = _shown(question, retrieved, context)
    if asks_for_all(question):
        every = [*retrieved.passages, *retrieved.extra]
        context.notes += left_out(question, every, {item.passage.id for item in items}, "read")
    how: Fields = {
        "confidence": draft.confidence if has_chains else None,
        "is_comparison": plan is not None and not plan.steps[-1].retrieve,
        "doubt": doubt and not has_chains,  # chains that do not reach an end say nothing
        "on_text": context.on_text,
        "must": options.must_answer,
    }
    full = IN_FULL.get(retrieved.prompt_name)
    is_short = options.short or full is None

    def read(lines: list[EvidenceLine]) -> AnswerDraft:
        with context.clock("answer"):
            if full is not None and not is_short:
                return in_full(question, lines, llm, task=full, **how)
            return from_items(question, lines, llm, task=retrieved.prompt_name, **how)

    try:
        answer = read(items)
    except InvalidReplyError as error:  # the passages are still useful
        return draft, f"{llm.model} gave no answer: {error}"
    if is_short:
        return answer, None
    if answer.answer is not None and answer.text is None:
        context.notes.append(f"{llm.model} gave the short form of an answer")
    is_overview = retrieved.prompt_name != "answer"  # an overview has searched for everything
    if not is_overview and answer.missing not in (None, NOTHING_FOUND, NOT_SAID, UNSUPPORTED):

        def show(new: list[RankedPassage]) -> list[EvidenceLine]:
            return _shown(question, RetrievalResult(new, evidence=retrieved.evidence), context)

        answer = complete(context, answer, items, show, read)
    return answer, None


def _shown(question: str, retrieved: RetrievalResult, context: RetrievalContext) -> list[EvidenceLine]:
    """Return the evidence for the language model, with contradictions. The strategy may bring its own; else
    the options name the form, else the strategy does."""
    items = retrieved.items
    if items is None:
        forms: dict[str, Show] = {**FORMS, "compact": partial(compact, context)}
        items = select_evidence(question, retrieved, forms[context.options.evidence or retrieved.evidence])
    return [*items, *disagreements(retrieved, items)]


def _missing(retrieved: RetrievalResult, draft: AnswerDraft, context: RetrievalContext) -> str | None:
    """Return what the evidence lacks or, if nothing was found, what the memory lacks."""
    chain_search = retrieved.chain_search
    if not draft.abstained or retrieved.chains:
        return draft.missing
    if not retrieved.passages and not context.reader.size()[1]:
        return "the memory is empty"
    if chain_search is not None and not context.has_pairs:
        return "the memory holds no question-answer pairs, of which chains are made"
    return draft.missing
