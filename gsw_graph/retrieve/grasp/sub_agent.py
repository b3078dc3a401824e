"""A sub-agent of GRASP: one sub-question, a search, and a language model that answers from what it is shown
or asks for more.

Of the paper: a statement and keywords for the search, hybrid retrieval, at most three traversals over names,
and one sentence or "insufficient". Ours: the call that reads the evidence asks for the traversal too, so that
a plain sub-question takes one call; the rewrite comes in that call ("Search: ..."), unless the recipe wants
it first; beside a name the agent may ask for the whole text of one line. What it names must stand in the
lines that it was shown, and what it found too (`answer.support`); what it asked for once it does not get
again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gsw_graph.answer.evidence import Item, flat, listed, texts
from gsw_graph.answer.reader import supported
from gsw_graph.errors import ReplyError
from gsw_graph.inference.chat.request import Request
from gsw_graph.names import normalise
from gsw_graph.prompts import prompt
from gsw_graph.retrieve.grasp import reply as protocol
from gsw_graph.retrieve.grasp.reply import Found, Insufficient, More
from gsw_graph.retrieve.grasp.search import follow, search

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.agents.agent import Agent
    from gsw_graph.retrieve.recipes import GraspRecipe

_LIMIT = 400  # tokens of a reply; a usual one has 40
_WHOLE = 300  # tokens of a text that is read
_KEPT = 4  # a part in so many of the lines stays of those before, however many new ones there are
UNSUPPORTED = "its answer stands in no line that it was shown"
NO_MORE = "it asked for more than it may"
_YES_NO = re.compile(r"^\W*(?:yes|no)\b\W*", re.IGNORECASE)
_STATEMENT = re.compile(r"^\W*statement\W*[:：][ \t*_]*(\S[^\n]*)", re.MULTILINE | re.IGNORECASE)
_KEYWORDS = re.compile(r"^\W*keywords\W*[:：][ \t*_]*(\S[^\n]*)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """What came of a sub-question, `question` as it was asked.

    answer: in a few words, None where it was insufficient; sentence: that states it; sources: the lines that
    both stand on. missing: what is not known, where there is no answer; failed: why, where the model gave no
    reply that could be used. passages: that were found on the way, best first, by each search.
    """

    question: str
    answer: str | None = None
    sentence: str = ""
    sources: tuple[Item, ...] = ()
    missing: str = ""
    failed: str | None = None
    passages: list[list[RankedPassage]] = field(default_factory=list)


def find(agent: Agent, question: str, recipe: GraspRecipe) -> Finding:
    """What an agent finds for a sub-question. A reply that cannot be used, or a budget that is used up, costs
    its finding alone; errors as of `Agent.ask`."""
    return _Search(agent, question, recipe).run()


class _Search:
    """The agent's way to its finding: the lines it is shown, and what it asked for."""

    def __init__(self, agent: Agent, question: str, recipe: GraspRecipe) -> None:
        self._agent, self._question, self._recipe = agent, question, recipe
        self._shown: list[Item] = []
        self._passages: list[list[RankedPassage]] = []
        self._done: list[str] = []

    def run(self) -> Finding:
        nothing = Finding(self._question, passages=self._passages)
        try:
            self._search(*self._statement())
            for left in range(self._recipe.rounds, -1, -1):
                said = self._ask(last=not left)
                if isinstance(said, Found):
                    return self._found(said)
                if isinstance(said, Insufficient):
                    return replace(nothing, missing=said.missing)
                if not left or not self._more(said):
                    self._agent.note("stop", _told(said), "", NO_MORE)
                    break
        except ReplyError as error:
            return replace(nothing, failed=str(error))
        return nothing

    def _statement(self) -> tuple[str, str]:
        """What is searched for first, and keywords."""
        if self._recipe.rewrite != "first":
            return self._question, ""

        def check(text: object) -> tuple[str, str]:
            statement, keywords = _STATEMENT.search(str(text)), _KEYWORDS.search(str(text))
            if statement is None:
                raise ValueError('there is no line "Statement: ..."')
            return statement[1].strip()[:500], keywords[1].strip()[:200] if keywords else ""

        asked = f"Question: {flat(self._question)}"
        messages = (
            {"role": "system", "content": prompt("grasp_rewrite")},
            {"role": "user", "content": asked},
        )
        try:
            request = Request("grasp_rewrite", messages, limit=_LIMIT)
            return self._agent.ask(request, check, self._question, " | ".join)
        except ReplyError:  # the question is a statement too, if not the best
            return self._question, ""

    def _search(self, statement: str, keywords: str = "") -> None:
        found = search(self._agent, "search", statement, keywords, self._recipe)
        self._take(found.items, found.passages)

    def _take(self, items: list[Item], passages: list[RankedPassage]) -> None:
        """New lines stand first; of those before as many stay as there is room."""
        known = {item.text for item in items}
        kept = [item for item in self._shown if item.text not in known]
        stay = min(len(kept), max(self._recipe.lines // _KEPT, self._recipe.lines - len(items)))
        self._shown = [*items[: self._recipe.lines - stay], *kept[:stay]]
        self._passages.append(passages)

    def _ask(self, *, last: bool) -> Found | More | Insufficient:
        parts = [listed(self._shown)]
        if self._done:
            parts.append(f"Looked up already: {'; '.join(self._done)}")
        if last:
            parts.append("Nothing more can be looked up: reply with Answer or Insufficient.")
        parts.append(f"Question: {flat(self._question)}")
        messages = (
            {"role": "system", "content": prompt("grasp_find")},
            {"role": "user", "content": "\n\n".join(parts)},
        )
        request = Request("grasp_find", messages, limit=_LIMIT)
        return self._agent.ask(request, protocol.parse, self._question, _told)

    def _found(self, said: Found) -> Finding:
        """The finding, where its answer stands in the lines; its sentence too, else the answer stands for
        itself."""
        named = [number - 1 for number in said.lines]
        places = supported(self._question, said.answer, named, self._shown, judged=False)
        if not places:
            self._agent.note("check", said.answer, "", UNSUPPORTED)
            return Finding(self._question, missing="", passages=self._passages)
        sentence = said.sentence
        said_of = _YES_NO.sub("", sentence)  # "No, it was Atlantis" says more than no
        if not (said_of and supported("", said_of, places, self._shown, judged=False)):
            sentence = f"{self._question} {said.answer}"
        sources = tuple(self._shown[place] for place in places)
        return Finding(self._question, said.answer, sentence, sources, passages=self._passages)

    def _more(self, said: More) -> bool:
        """Look up what the agent asks for. False: it was looked up before, or it cannot be."""
        wanted = " ".join(filter(None, [said.how.capitalize(), flat(said.what), flat(said.fact)]))
        if wanted in self._done:
            return False
        self._done.append(wanted)
        if said.how == "read":
            return self._read(said.what)
        if said.how == "follow" and self._is_shown(said.what):
            fact = said.fact or self._question
            found = follow(self._agent, said.what, normalise(said.what), fact, self._recipe)
            self._take(found.items, found.passages)
            return True
        if said.how == "follow":
            self._agent.note("follow", said.what, "", "refused: no line that it was shown has this name")
        statement = said.fact if said.how == "follow" else " ".join(filter(None, (said.what, said.fact)))
        if not statement:
            return False
        self._search(statement)
        return True

    def _is_shown(self, name: str) -> bool:
        """Whether a name stands in the question or in a line, as whole words."""
        key = normalise(name)
        every = [self._question, *(item.text for item in self._shown)]
        return bool(key) and any(
            f" {key} " in f" {' '.join(map(normalise, text.replace('?', ' ').split()))} " for text in every
        )

    def _read(self, number: str) -> bool:
        """Show the passage of a line."""
        found = re.search(r"\d+", number)
        place = int(found[0]) - 1 if found and len(found[0]) < 4 else -1
        if not 0 <= place < len(self._shown):
            self._agent.note("read", number, "", "refused: there is no such line")
            return False
        passage = self._shown[place].passage
        self._agent.note("read", f"line {place + 1}", passage.title or passage.id)
        self._take(list(texts([passage], _WHOLE)), [passage])
        return True


def _told(said: Found | More | Insufficient) -> str:
    if isinstance(said, Found):
        return said.sentence
    if isinstance(said, Insufficient):
        return f"insufficient: {said.missing}" if said.missing else "insufficient"
    return f"{said.how} {said.what}{f': {said.fact}' if said.fact else ''}"
