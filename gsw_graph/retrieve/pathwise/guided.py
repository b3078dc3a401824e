"""Paths followed with a language model (PathwiseRAG, algorithm 1): the sub-problems of a level side by
side, each read for its answer; what is missing asked in other words; all that was found read together.

Ours: a sub-problem on several paths is asked once. Where the memory has pairs, chains of them follow the
plan and no call is made for a sub-problem; the model is asked for gaps alone, where the chains are not
sure. Adjustment asks only where something was not found, at most `rounds` times; a new path whose gain is
too small is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.answer.chains import from_chains
from gsw_graph.answer.evidence import ROOM, Item, flat, texts
from gsw_graph.answer.reader import cited, from_items, read_answer
from gsw_graph.errors import ReplyError
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.plan.steps import rewrite
from gsw_graph.retrieve.agents.side_by_side import side_by_side
from gsw_graph.retrieve.agents.spoken import Spoken
from gsw_graph.retrieve.pathwise.adjustment import adjusted
from gsw_graph.retrieve.pathwise.explore import chosen, explore, find
from gsw_graph.retrieve.pathwise.gaps import gaps
from gsw_graph.retrieve.pathwise.integration import merged
from gsw_graph.retrieve.pathwise.network import SubProblem
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategy import AnswerDraft, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gsw_graph.answer.reply import ReaderReply
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.agents.agent import Agent, Team
    from gsw_graph.retrieve.pathwise.network import Network
    from gsw_graph.retrieve.recipes import PathwiseRecipe
    from gsw_graph.retrieve.strategy import Retrieved

_LONGEST = 200  # characters of an answer that goes into the next question
_BESIDE = 2  # passages that are read beside the findings, where none is missing
_READ = 5
# confidence from which the answer stands in the chains for four questions of five (docs/ricr.md); below, the
# model is asked what is missing
_SURE = 0.5
_UNREAD = "(passages were found, and are read with the answer)"  # where chains are followed
_CITED = 2.0  # weight of the passages that an answer stands on, where those of a path have 1


@dataclass
class Finding:
    """What became of a sub-problem. answer: None where nothing was found. sources: the lines that the
    answer stands on."""

    id: int
    question: str
    passages: list[RankedPassage]
    answer: str | None = None
    sources: tuple[Item, ...] = ()


@dataclass
class Guided:
    """One question that is followed with a model. notes: what could not be done on the way."""

    team: Team
    query: Query
    recipe: PathwiseRecipe
    judged: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Passages of a path."""
        return max(self.recipe.documents, self.query.k)

    def follow(self, network: Network) -> Retrieved:
        """What the paths of a network find; with the answer, where sub-problems were read one by one."""
        if network.plan is not None and self.team.context.has_pairs:
            return self._chains(network)
        if network.plan is None or len(network.problems) == 1:
            return explore(self.team, self.query, replace(network, plan=None), self.recipe)
        findings = self._levels(network)
        findings += self._adjusted(findings)
        whole = find(self.team, "whole question", self._of(self.query.question), network.problems[0])
        lists = [(self.recipe.whole, whole.passages)]
        lists += [(1.0 if one.answer else self.recipe.whole, one.passages) for one in findings]
        lists += [(_CITED, [item.passage for item in one.sources]) for one in findings]
        passages = merged(lists, self.query.k, rank=self.recipe.rank, duplicate=self.recipe.duplicate)
        found = replace(whole, passages=passages)
        return replace(found, draft=self._answer(network, found, findings)) if self.query.answer else found

    def _chains(self, network: Network) -> Retrieved:
        """Chains along the plan; where they are not sure, what the model asks for besides."""
        found = explore(self.team, self.query, network, self.recipe)
        confidence = (
            from_chains(self.query.question, found, FUSION.confidence, answer=False).confidence or 0.0
        )
        best = next(iter(found.beams.ends()), None) if found.beams else None
        if confidence >= _SURE:
            return found
        asked: list[tuple[str, str | None]] = (
            [(hop.concrete, hop.answer) for hop in best.hops] if best else []
        )
        asked = asked or [(problem.question, None) for problem in network.problems]
        brought: list[list[RankedPassage]] = []
        known = {passage.id for passage in found.passages}
        for questions in self._rounds(asked):
            for problem, passages in self._searched(questions, known):
                brought.append(passages)
                asked.append((problem.question, _UNREAD if passages else None))
        lists = [(1.0, found.passages), *((self.recipe.whole, passages) for passages in brought)]
        passages = merged(lists, self.query.k, rank=self.recipe.rank, duplicate=self.recipe.duplicate)
        return replace(found, passages=passages) if brought else found

    def _levels(self, network: Network) -> list[Finding]:
        """The sub-problems of all paths, those of a level at the same time."""
        paths = chosen(self.team, self.query, network, self.recipe)
        owner: dict[int, str] = {}
        for number, path in enumerate(paths, 1):
            for problem in path.problems:
                owner.setdefault(problem.id, f"path {number}")
        waiting = [problem for problem in network.problems if problem.id in owner]
        found: dict[int, Finding] = {}

        def known(id_: int) -> str:
            return (found[id_].answer or f"({found[id_].question.rstrip(' ?')})")[:_LONGEST]

        while waiting:
            ready = [problem for problem in waiting if found.keys() >= set(problem.parents)]
            tasks = [
                partial(
                    self._found,
                    self.team.agent(owner[one.id]),
                    replace(one, question=rewrite(one.question, known)),
                )
                for one in ready
            ]
            found.update({one.id: one for one in self._side_by_side(tasks)})
            waiting = [problem for problem in waiting if problem.id not in found]
        return list(found.values())

    def _adjusted(self, findings: Sequence[Finding]) -> list[Finding]:
        """What new sub-problems find, where some were not answered."""
        more: list[Finding] = []
        shown = self.recipe.documents
        known = {passage.id for one in findings for passage in one.passages[:shown]}
        asked: list[tuple[str, str | None]] = [(one.question, one.answer) for one in findings]
        if all(answer for _, answer in asked):
            return more
        for questions in self._rounds(asked):
            brought = self._searched(questions, known)
            asked += [(problem.question, None) for problem, passages in brought if not passages]
            tasks = [
                partial(self._read, self.team.agent(f"new path: {problem.question}"), problem, passages)
                for problem, passages in brought
                if passages
            ]
            new = self._side_by_side(tasks)
            asked += [(one.question, one.answer) for one in new]
            more += new
            if new and all(one.answer for one in new):
                break
        return more

    def _rounds(self, asked: list[tuple[str, str | None]]) -> Iterator[list[str]]:
        """New questions, round by round, as long as the model has some; `asked` grows meanwhile."""
        agent = self.team.agent("adjustment")
        for _ in range(self.recipe.rounds):
            try:
                questions = gaps(agent, self.query.question, asked)
            except ReplyError as error:
                self.notes.append(f"no gaps were looked for: {error}")
                return
            if not questions:
                return
            yield questions

    def _searched(
        self, questions: Sequence[str], known: set[str]
    ) -> list[tuple[SubProblem, list[RankedPassage]]]:
        """New sub-problems with what they bring; a path that stops brings nothing."""
        problems = [SubProblem(0, question, "deep chain") for question in questions]
        names = [f"new path: {problem.question}" for problem in problems]
        found = [
            find(self.team, name, self._of(problem.question), problem).passages
            for name, problem in zip(names, problems, strict=True)
        ]
        brought = adjusted(found, known, self.documents, self.recipe.gain)
        for name, problem, one in zip(names, problems, brought, strict=True):
            self.team.agent(name).note("adjust", problem.question, one.words())
        return [(problem, list(one.passages)) for problem, one in zip(problems, brought, strict=True)]

    def _found(self, agent: Agent, problem: SubProblem) -> Finding:
        passages = find(self.team, agent.name, self._of(problem.question), problem).passages
        return self._read(agent, problem, passages)

    def _read(self, agent: Agent, problem: SubProblem, passages: list[RankedPassage]) -> Finding:
        """The answer of a sub-problem, read from its passages."""
        lines = list(texts(passages, most=self.recipe.documents))
        finding = Finding(problem.id, problem.question, passages)
        try:
            spoken = self._spoken(agent, problem.question)
            read = read_answer(problem.question, lines, spoken, final=False)
        except ReplyError as error:
            self.notes.append(f"a sub-question was not read: {error}")
            return finding
        return replace(finding, answer=read.answer, sources=read.sources)

    def _answer(self, network: Network, found: Retrieved, findings: Sequence[Finding]) -> AnswerDraft:
        """The answer by findings and passages; where the model gives none, that of the only end."""
        lines = [
            Item(flat(f"{one.question} {one.answer}"), one.sources[0].passage, one.question, one.answer)
            for one in findings
            if one.answer
        ]
        most = _READ if len(lines) < len(findings) else _BESIDE
        room = ROOM - sum(estimate(line.text) for line in lines)
        lines += texts(found.passages, max(room, 0), most)
        context = self.team.context
        spoken = self._spoken(self.team.agent("answer"), "the findings and passages")
        try:
            return from_items(self.query.question, lines, spoken, judged=self.judged, on_text=context.on_text)
        except ReplyError as error:
            self.notes.append(f"no answer was put together: {error}")
        ends = {problem.id for problem in network.ends}
        last = next(one for one in findings if one.id in ends)  # a new sub-problem is no end
        if self.judged or len(ends) > 1 or last.answer is None:
            return AnswerDraft(abstained=True, missing="no answer was put together")
        return AnswerDraft(
            last.answer, "llm", citations=[cited(item, last.question, last.answer) for item in last.sources]
        )

    def _of(self, question: str) -> Query:
        return Query(question, k=self.documents)

    def _spoken(self, agent: Agent, asked: str) -> Spoken:
        model = self.team.context.llm.model if self.team.context.llm else ""
        return Spoken(agent, model, asked, _said)

    def _side_by_side(self, tasks: Sequence[Callable[[], Finding]]) -> list[Finding]:
        """What the tasks find; each keeps its own failures."""
        found = side_by_side(self.team, tasks)
        if failed := next((one for one in found if isinstance(one, ReplyError)), None):
            raise failed
        return [one for one in found if isinstance(one, Finding)]


def _said(reply: ReaderReply) -> str:
    return reply.answer or reply.missing or "nothing"
