"""Run the baselines: `none`, a language model without the memory; `dense`, nearest vectors; `bm25`, rare
words in common; and `ircot`, which reasons a sentence and searches by it in turns (Trivedi 2023, Interleaving
Retrieval with Chain-of-Thought Reasoning; it has no equations). Their reader gets the first passages and
nothing else.

`ircot` departs from the paper: the search is `linked`, as papers that compare with it search by a graph; the
prompt is ours, without examples; passages of several searches come first; and the answer model reads the best
five passages, as with every other strategy.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.evidence import passage_lines, render_evidence, single_line
from gsw_graph.ask.retrieve.agents import Agent, Team, request_for
from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.retrieve.recipes import IRCoTRecipe, SearchRecipe
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.retrieve.strategies.proprag import PROPRAG
from gsw_graph.ask.strategy import (
    AnswerDraft,
    NoRecipe,
    Query,
    RetrievalResult,
    Strategy,
    reciprocal_rank_fusion,
)
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import RankedPassage


def closed_book(context: RetrievalContext, query: Query, _: NoRecipe) -> RetrievalResult:
    """Let the language model answer from its own knowledge."""
    if context.llm is None or not query.answer:
        return RetrievalResult([])
    messages = (
        {"role": "system", "content": prompt("closed_book")},
        {"role": "user", "content": f"Question: {single_line(query.question)}"},
    )
    with context.clock("answer"):
        reply = context.llm.ask(Request("answer", messages, limit=_LIMIT, final=True), _short_answer)
    return RetrievalResult([], draft=AnswerDraft(reply.value, "llm"))


def _short_answer(reply: object) -> str:
    """Return the rest of the line after "Answer:". ValueError: there is none."""
    _, label, text = str(reply).rpartition("Answer:")
    answer = text.strip().partition("\n")[0]
    if not label or not answer:
        raise ValueError('write "Answer:" and a few words')
    return answer


def dense(context: RetrievalContext, query: Query, recipe: SearchRecipe) -> RetrievalResult:
    """Find the passages whose vectors are nearest to the question's."""
    embedding = context.vector(query.question).tolist()
    with context.clock("database"):
        passages = context.reader.dense(embedding, max(query.k, recipe.rerank, 10))
    return _reranked(context, query, passages, recipe)


def bm25(context: RetrievalContext, query: Query, recipe: SearchRecipe) -> RetrievalResult:
    """Find passages that share rare words with the question, by the engine's full-text index."""
    words = lucene_words(query.question)
    with context.clock("database"):
        passages = context.reader.bm25(words, max(query.k, recipe.rerank)) if words else []
    return _reranked(context, query, passages, recipe)


def _reranked(
    context: RetrievalContext, query: Query, passages: list[RankedPassage], recipe: SearchRecipe
) -> RetrievalResult:
    """Return the first passages, some of them in the order of the reranker where one is set."""
    first = passages[: recipe.rerank]
    scores = context.relevance(query.question, first) if first else None
    if scores is not None:
        first = [replace(passage, score=score) for passage, score in zip(first, scores, strict=True)]
        first.sort(key=lambda passage: -passage.score)
        least = first[-1].score
        rest = passages[recipe.rerank :]
        passages = first + [replace(passage, score=min(passage.score, least)) for passage in rest]
    return RetrievalResult(passages[: query.k], evidence="passages")


NONE = Strategy(
    "none",
    "the language model alone, without the memory",
    closed_book,
    NoRecipe(),
    needs=frozenset({"llm"}),
    gives=frozenset({"answer"}),
)
DENSE = Strategy("dense", "nearest vectors", dense, SearchRecipe(), prefix_stable=True)
BM25 = Strategy("bm25", "the engine's full-text index", bm25, SearchRecipe(), prefix_stable=True)


_LIMIT = 300  # tokens of a sentence
_SEARCHES: dict[str, Strategy[Any]] = {
    "linked": LINKED,
    "dense": DENSE,
    "bm25": BM25,
    "proprag": PROPRAG,
}
_ENDS = re.compile(r"(?i)\bso,? the answer is\b")


def reason(context: RetrievalContext, query: Query, recipe: IRCoTRecipe) -> RetrievalResult:
    """Search, write a sentence, search by it, and so on. An unusable or repeated sentence ends this. The
    result is the passages so far, from which the usual reader answers."""
    agent = Team(context).agent("reasoning")
    rankings = [_search(agent, query.question, recipe)]
    thoughts: list[str] = []
    note = None
    for _ in range(recipe.steps):
        passages = reciprocal_rank_fusion(rankings)
        try:
            thought = _think(agent, query.question, thoughts, passages, recipe.held)
        except InvalidReplyError as error:
            note = f"the reasoning ended early: {error}"
            break
        if thought in thoughts or _ENDS.search(thought):
            break
        thoughts.append(thought)
        rankings.append(_search(agent, thought, recipe))
    return RetrievalResult(reciprocal_rank_fusion(rankings)[: query.k], note=note, evidence="passages")


def _search(agent: Agent, words: str, recipe: IRCoTRecipe) -> list[RankedPassage]:
    strategy = _SEARCHES[recipe.search]

    def run(context: RetrievalContext) -> list[RankedPassage]:
        return strategy(context, Query(words, k=recipe.near)).passages

    return agent.search("search", words, run, ["read/nearest", "read/passages"], list)


def _think(agent: Agent, question: str, thoughts: list[str], passages: list[RankedPassage], most: int) -> str:
    evidence = render_evidence(list(passage_lines(passages, most=most)))
    said = " ".join(map(single_line, thoughts)) or "(nothing)"
    user = f"{evidence}\n\nQuestion: {single_line(question)}\nSo far: {said}"
    request = request_for("ircot", user, limit=_LIMIT)
    return agent.ask(request, _sentence, f"what follows from {len(passages)} texts?", str)


def _sentence(reply: object) -> str:
    """Return the first line that says anything. ValueError: none does."""
    for line in str(reply).splitlines():
        if re.search(r"\w", line):
            return single_spaced(line)
    raise ValueError("the reply says nothing: write one sentence")


IRCOT = Strategy(
    "ircot",
    "an agent that reads passages, the baseline: a sentence of reasoning, a search by it, and so on; needs a "
    "language model",
    reason,
    IRCoTRecipe(),
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
