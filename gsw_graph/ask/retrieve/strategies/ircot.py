"""The strategy `ircot`: a sentence of reasoning, a search by it, and so on (Trivedi 2023, Interleaving
Retrieval with Chain-of-Thought Reasoning; it has no equations), the baseline of an agent that reads passages.

Ours: the search is `linked`, as the papers that compare with it search by a graph; the prompt, without
examples; what several searches found stands first; the answer model reads the best five passages, as that of
every other strategy does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import flat, listed, texts
from gsw_graph.ask.retrieve.agents import Agent, Team
from gsw_graph.ask.retrieve.recipes import IRCoTRecipe
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.retrieve.votes import reciprocal_rank_fusion
from gsw_graph.ask.strategy import Query, Retrieved, Strategy
from gsw_graph.errors import ReplyError
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import RankedPassage


_LIMIT = 300  # tokens of a sentence
_ENDS = re.compile(r"\bso,? the answer is\b", re.IGNORECASE)


def reason(context: Context, query: Query, recipe: IRCoTRecipe) -> Retrieved:
    """Search, write a sentence, search by it, and so on. A sentence that cannot be used, or says again what
    was said, ends it with what was found."""
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


def run(context: Context, query: Query, recipe: IRCoTRecipe) -> Retrieved:
    """Passages that the sentences found; the reader of every strategy answers from them."""
    return reason(context, query, recipe)


IRCOT = Strategy(
    "ircot",
    "an agent that reads passages, the baseline: a sentence of reasoning, a search by it, and so on; needs a "
    "language model",
    run,
    IRCoTRecipe(),
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
