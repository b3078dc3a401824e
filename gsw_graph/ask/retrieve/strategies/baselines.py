"""The baselines: `dense`, nearest vectors; `bm25`, rare words in common; and `ircot`, a sentence of
reasoning, a search by it, and so on (Trivedi 2023, Interleaving Retrieval with Chain-of-Thought Reasoning; it
has no equations).

Ours in `ircot`: the search is `linked`, as the papers that compare with it search by a graph; the prompt,
without examples; what several searches found stands first; the answer model reads the best five passages, as
that of every other strategy does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import flat, listed, texts
from gsw_graph.ask.retrieve.agents import Agent, Team
from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.retrieve.recipes import IRCoTRecipe
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.retrieve.votes import reciprocal_rank_fusion
from gsw_graph.ask.strategy import NoRecipe, Query, Retrieved, Strategy
from gsw_graph.errors import ReplyError
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import RankedPassage


def dense(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Find the passages whose vectors are nearest to the question's."""
    embedding = context.vector(query.question).tolist()
    with context.clock("database"):
        return Retrieved(context.reader.dense(embedding, max(query.k, 10))[: query.k])


def bm25(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Find passages that share rare words with the question, by the engine's full-text index."""
    words = lucene_words(query.question)
    with context.clock("database"):
        return Retrieved(context.reader.bm25(words, query.k) if words else [])


DENSE = Strategy("dense", "nearest vectors", dense, NoRecipe(), steady=True)
BM25 = Strategy("bm25", "the engine's full-text index", bm25, NoRecipe(), steady=True)


_LIMIT = 300  # tokens of a sentence
_ENDS = re.compile(r"\bso,? the answer is\b", re.IGNORECASE)


def reason(context: Context, query: Query, recipe: IRCoTRecipe) -> Retrieved:
    """Search, write a sentence, search by it, and so on. A sentence that cannot be used, or says again what
    was said, ends it with what was found: passages, which the reader of every strategy answers from."""
    agent = Team(context).agent("reasoning")
    rankings = [_search(agent, query.question, recipe.near)]
    thoughts: list[str] = []
    note = None
    for _ in range(recipe.steps):
        try:
            thought = _think(agent, query.question, thoughts, reciprocal_rank_fusion(rankings), recipe.held)
        except ReplyError as error:
            note = f"the reasoning ended early: {error}"
            break
        if thought in thoughts:
            break
        thoughts.append(thought)
        if _ENDS.search(thought):
            break
        rankings.append(_search(agent, thought, recipe.near))
    return Retrieved(reciprocal_rank_fusion(rankings)[: query.k], note=note)


def _search(agent: Agent, words: str, k: int) -> list[RankedPassage]:
    return agent.search(
        "search",
        words,
        lambda context: LINKED(context, Query(words, k=k)).passages,
        ["read/nearest", "read/passages"],
        list,
    )


def _think(agent: Agent, question: str, thoughts: list[str], passages: list[RankedPassage], held: int) -> str:
    evidence = listed(list(texts(passages, most=held)))
    said = " ".join(map(flat, thoughts)) or "(nothing)"
    messages = (
        {"role": "system", "content": prompt("ircot")},
        {"role": "user", "content": f"{evidence}\n\nQuestion: {flat(question)}\nSo far: {said}"},
    )
    request = Request("ircot", messages, limit=_LIMIT)
    return agent.ask(request, _sentence, f"what follows from {len(passages)} texts?", str)


def _sentence(reply: object) -> str:
    """The first line that says anything. ValueError: none does."""
    for line in str(reply).splitlines():
        if re.search(r"\w", line):
            return " ".join(line.split())
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
