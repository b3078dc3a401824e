"""Run the strategies `auto` and `select`. `auto` chooses the strategy that measures best for the content of
the memory (docs/results.md). `select` finds more passages than are read: the language model sees a line of
each, chooses the needed passages, and names a missing part, which is searched for. `auto` selects over
documents without pairs.

No paper has `select`: rerankers by a language model order passages by relevance to the question, but the
passage of a second hop is relevant to the first hop's answer.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gsw_graph.ask.answer.evidence import (
    EvidenceLine,
    render_evidence,
    sentences_of,
    single_line,
    titled_text,
    truncate_tokens,
    word_shares,
)
from gsw_graph.ask.plan import object_schema
from gsw_graph.ask.retrieve.agents import Team, request_for
from gsw_graph.ask.retrieve.comparison import Sides, sides_of
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.retrieve.recipes import AutoRecipe, SelectRecipe
from gsw_graph.ask.retrieve.strategies.fusion import FUSION, with_one_pair
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import AnswerDraft, Query, RetrievalResult, Strategy, reciprocal_rank_fusion
from gsw_graph.errors import InvalidReplyError
from gsw_graph.model.results import Citation
from gsw_graph.text.names import normalise, title_names
from gsw_graph.text.words import normalise_text
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import RankedPassage

WHOLE_WEIGHT = 0.5  # of the ranking of the whole question, where that of a side has 1
RANK_CONSTANT = 1.0  # the first passages of each side count for much more than the next
_MARKS = " ?!.¿¡;…。؟"  # of a question at its ends
DEPTH = 30  # of each ranking at least, so that the first passages are the same however many are wanted
FUSION_CONSTANT = 4.0  # of the reciprocal ranks of names, vectors and words
SPLIT_AMONG = 10  # first passages that tell whether documents have several
VECTORS_WEIGHT, WORDS_WEIGHT = 1.5, 0.5  # beside 1 of names, times the weight of the fusion
DOCUMENT_SHARE = 0.1  # of the scores of a document's passages, added to each of them
REPEATED_SHARE = 0.8  # of its score that a passage keeps for each passage of its document above it
TITLED_WEIGHT = 0.2


def retrieve(context: RetrievalContext, query: Query, recipe: AutoRecipe) -> RetrievalResult:
    """Search by the strategy that fits; a language model selects if the documents have no pairs."""
    if context.llm is None or query.plan or context.has_pairs:
        return search_fitting(context, query, recipe)
    return retrieve_select(context, query, SelectRecipe())


def search_fitting(context: RetrievalContext, query: Query, recipe: AutoRecipe) -> RetrievalResult:
    """Choose a strategy by the question and the memory, and search by it.

    With a plan or question-answer pairs it is `fusion`, else `linked`; a comparison of names is searched for
    each side. Without a plan and a language model, a pair that surely answers the whole question gives the
    answer.
    """
    if query.plan:
        retrieved = FUSION(context, query)
        return replace(retrieved, ran=retrieved.ran or FUSION.name, why=retrieved.why or "there is a plan")
    sides = sides_of(query.question)
    if sides is not None and sides.named:  # descriptions are often read wrongly (docs/results.md)
        retrieved = search_sides(context, query, sides)
        why = "the question compares names: each was searched for"
        return replace(retrieved, ran=LINKED.name, why=why)
    if not context.has_pairs:
        retrieved = search_documents(context, query, LINKED)
        why = retrieved.why or "the memory holds no question-answer pairs"
        return replace(retrieved, ran=retrieved.ran or LINKED.name, why=why)
    retrieved = search_documents(context, query, FUSION)
    why = retrieved.why or "the memory holds question-answer pairs"
    retrieved = replace(retrieved, ran=retrieved.ran or FUSION.name, why=why)
    if not query.answer or context.llm is not None:
        return retrieved
    return with_one_pair(context, query, retrieved, recipe.sure)


def added_answer(context: RetrievalContext, question: str) -> AnswerDraft | None:
    """Return the answer that a person added to a question (`gswgraph correct add`), with that as its
    citation. A document may call itself a correction, so the text must be that of one."""
    key = question_key(question)
    with context.clock("database"):
        rows = context.reader.rows("read/added_answers")
    for row in rows:
        text, asked = row["text"], row["question"]
        is_correction = normalise_text(row["value"]) == text and context.reader.sees(row["id"])
        if is_correction and question_key(asked) == key:
            fields = [row[name] for name in ("id", "document", "title", "source", "text", "section")]
            return AnswerDraft(text.removeprefix(asked).strip(), "added", citations=[Citation(*fields)])
    return None


def question_key(question: str) -> str:
    """Return a question as it is compared with another: without case, end marks and further spaces."""
    text = single_spaced(normalise_text(question))
    return unicodedata.normalize("NFKC", text).casefold().strip(_MARKS)


def search_sides(context: RetrievalContext, query: Query, sides: Sides) -> RetrievalResult:
    """Search for each side and for the whole question by `linked`, and fuse the rankings.

    The trace is that of the whole question.
    """
    top_k = max(query.k + query.extra_k, DEPTH)
    trace, context.trace = context.trace, None
    try:
        rankings = [LINKED(context, Query(question, k=top_k)).passages for question in sides.questions]
    finally:
        context.trace = trace
    weights = [1.0] * len(rankings) + [WHOLE_WEIGHT]
    whole = LINKED(context, replace(query, k=top_k, extra_k=0))
    rankings.append(whole.passages)
    fused = reciprocal_rank_fusion(rankings, weights, k=RANK_CONSTANT)
    return RetrievalResult(fused, confidence=whole.confidence).split(query)


def search_documents(context: RetrievalContext, query: Query, strategy: Strategy[Any]) -> RetrievalResult:
    """Search by a strategy. If documents are long, fuse its ranking with rankings by vectors and by words.

    Names in a manual tell the document of an answer, not the passage; and the user may not know the names.
    docs/linked.md has figures.
    """
    question = query.question
    retrieved = strategy(context, replace(query, k=max(query.k + query.extra_k, DEPTH), extra_k=0))
    ranking = retrieved.passages
    first = ranking[:DEPTH]
    weight = fusion_weight(question, first)
    if weight > 0:
        embedding, words = context.vector(question).tolist(), lucene_words(question)
        with context.clock("database"):
            nearest = context.reader.dense(embedding, DEPTH)
            worded = context.reader.bm25(words, DEPTH) if words else []
        weights = [1.0, VECTORS_WEIGHT * weight, WORDS_WEIGHT * weight]
        fused = reciprocal_rank_fusion([first, nearest, worded], weights, k=FUSION_CONSTANT)
        ids = {passage.id for passage in fused}
        rest = [replace(passage, score=0.0) for passage in ranking if passage.id not in ids]
        retrieved = replace(retrieved, passages=spread_documents(fused) + rest)
    return retrieved.split(query)


def fusion_weight(question: str, ranking: Sequence[RankedPassage]) -> float:
    """Return the weight in [0, 1] of vectors and words beside a ranking by names.

    The weight grows with the share of first passages whose document has another passage in the ranking, and
    is 1 from a half on. Turns of a conversation do not count, as names tell them apart. If the question names
    the title of a passage, the weight is TITLED_WEIGHT times that.
    """
    passages = Counter(passage.document for passage in ranking if not passage.speaker)
    first = ranking[:SPLIT_AMONG]
    several = sum(passages[passage.document] > 1 for passage in first)
    weight = min(1.0, 2 * (several / max(len(first), 1)))
    names = {mention.key for mention in mentions(question)}
    for passage in ranking:
        if not names.isdisjoint(map(normalise, title_names(passage.title))):
            return weight * TITLED_WEIGHT
    return weight


def spread_documents(ranking: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Order passages so that a document with many good passages comes first, without taking all first places.

    A passage has its score plus a share of the scores of its document. Each better passage of the same
    document multiplies the sum by REPEATED_SHARE. Scores stay in descending order.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for passage in ranking:
        totals[passage.document] += passage.score
    worth = {passage.id: passage.score + DOCUMENT_SHARE * totals[passage.document] for passage in ranking}
    above: Counter[str] = Counter()
    left, order = list(ranking), []

    def discounted(passage: RankedPassage) -> float:
        return worth[passage.id] * REPEATED_SHARE ** above[passage.document]

    while left:
        best = max(left, key=discounted)
        left.remove(best)
        above[best.document] += 1
        order.append(best)
    return [replace(passage, score=place.score) for passage, place in zip(order, ranking, strict=True)]


AUTO = Strategy(
    "auto",
    "`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`; without a plan, a "
    "comparison of names is searched for each of them by `linked`; where there is "
    "neither a plan nor a pair a language model selects, as in `select`",
    retrieve,
    AutoRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
)


# --- select ---

_LINE = 32  # tokens of a passage's line; with the question and the prompt a call has about 1,000
_LIMIT = 120  # tokens of the reply
_QUERY = 200  # characters of a second search
_SCHEMA = object_schema(
    {"needed": {"type": "array", "items": {"type": "integer"}}, "missing": {"type": "string"}}
)


class Selection(NamedTuple):
    """Hold the choice of a model. needed: Places of passages, from 0. missing: A question for a second
    search, or ""."""

    needed: list[int]
    missing: str


def retrieve_select(context: RetrievalContext, query: Query, recipe: SelectRecipe) -> RetrievalResult:
    """Search as `auto` does without a model, let the model select, and search once more for the missing part.

    Needed passages come first, then the best of the second search, then the others in their order. If no
    reply of the model can be used, the order stays and a note says so.
    """
    wide = replace(query, k=max(query.k + query.extra_k, recipe.shown), extra_k=0)
    results = search_fitting(context, wide, AutoRecipe())
    passages = results.passages
    if len(passages) > 1:
        agent = Team(context).agent("selection")
        try:
            selection = select(agent, query.question, passages[: recipe.shown])
        except InvalidReplyError as error:
            results = replace(results, note=f"nothing was selected: {error}")
        else:
            order = [passages[place] for place in selection.needed]
            if selection.missing:
                order += search(agent, selection.missing, recipe.more)
            by_id = {passage.id: passage for passage in order + passages}
            results = replace(results, passages=list(by_id.values()), selected=bool(order))
    return results.split(query)


def select(agent: Agent, question: str, passages: Sequence[RankedPassage]) -> Selection:
    """Ask the model which passages are needed, by the title and the best sentence of each.

    Raises:
        InvalidReplyError: There is no reply that can be used.
    """

    def outcome(selection: Selection) -> str:
        needed = [passages[place] for place in selection.needed]
        titles = [passage.title or passage.id for passage in needed]
        return "; ".join([*titles, selection.missing])

    lines = render_evidence([EvidenceLine(line_of(passage, question), passage) for passage in passages])
    text = f"{lines}\n\nQuestion: {single_line(question)}"
    request = request_for("select", text, _SCHEMA, limit=_LIMIT)
    task = f"which of {len(passages)} passages are needed?"
    return agent.ask(request, lambda reply: parse_selection(reply, len(passages)), task, outcome)


def line_of(passage: RankedPassage, question: str) -> str:
    """Return the title of a passage and the sentence that shares most with the question, in _LINE tokens."""
    titled = [titled_text(passage, sentence) for sentence in sentences_of(passage) or ("",)]
    return truncate_tokens(single_line(titled[word_shares(question, titled).argmax()]), _LINE)


def parse_selection(reply: object, count: int) -> Selection:
    """Read a reply about so many passages; each passage counts once.

    Raises:
        ValueError: The reply has no list of valid numbers, or no text about a missing part.
    """
    fields = reply if isinstance(reply, Mapping) else {}
    numbers, missing = fields.get("needed"), fields.get("missing")
    if type(numbers) is not list or type(missing) is not str:
        raise ValueError('the reply has no list "needed" or no text "missing"')
    if any(type(number) is not int or not 1 <= number <= count for number in numbers):
        raise ValueError(f'"needed" has something else than numbers from 1 to {count}')
    places = [number - 1 for number in dict.fromkeys(numbers)]
    return Selection(places, single_line(missing)[:_QUERY])


def search(agent: Agent, missing: str, top_k: int) -> list[RankedPassage]:
    """Search for the missing part."""
    return agent.search(
        "search",
        missing,
        lambda context: LINKED(context, Query(missing, k=top_k)).passages,
        ["read/neighbourhood", "read/passages"],
        list,
    )


SELECT: Strategy[Any] = Strategy(
    "select",
    "`auto`, of whose passages a language model names those that are needed and searches for what is missing",
    retrieve_select,
    SelectRecipe(),
    follows_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "chains", "answer"}),
)
