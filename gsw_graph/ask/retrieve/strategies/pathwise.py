"""The strategy `pathwise` (PathwiseRAG, algorithm 1): the intent of a question chooses how it is searched
for, a network of sub-problems is followed by paths, and what they find is integrated. docs/pathwise.md.

Without a language model rules of English read the question: most questions are then one search.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.ask.answer.chains import from_chains
from gsw_graph.ask.answer.evidence import BUDGET, Item, flat, texts
from gsw_graph.ask.answer.reader import read_answer
from gsw_graph.ask.plan import rewrite, word_stems
from gsw_graph.ask.retrieve.agents import AgentModel, Team, request_for, side_by_side
from gsw_graph.ask.retrieve.intent import (
    ANY_DATE,
    DEEPEST,
    Approach,
    Intent,
    ask_intent,
    choose_approach,
    date_bounds,
    describe,
    parts_of,
    read_intent,
)
from gsw_graph.ask.retrieve.names.linking import mentions
from gsw_graph.ask.retrieve.recipes import PATHWISE_RECIPES, PathwiseRecipe, SearchRecipe
from gsw_graph.ask.retrieve.strategies.baselines import BM25, DENSE
from gsw_graph.ask.retrieve.strategies.fusion import FUSION
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import Query, Retrieved, Strategy, reciprocal_rank_fusion
from gsw_graph.errors import ReplyError
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import fence
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.qa_chains import Link
    from gsw_graph.model.results import RankedPassage

T = TypeVar("T")
Asked = list[tuple[str, "str | None"]]  # sub-questions and their answers

_CHAINED = 0.2  # weight of a path beside chains, which have 1: it puts them in order and adds little
CITED_WEIGHT = 2.0  # of the passages that an answer is based on, where those of a path have 1
SURE = 0.5  # confidence from which chains hold the answer for four questions of five (docs/ricr.md)
ONE_PAIR = 0.8  # confidence from which one pair answers a simple question, as in `auto`
_NEAR, _COMMON, _DATED = 100, 30, 30  # of the passages among which dated ones are looked for
_ANSWER = 200  # characters of an answer that goes into the next question
_BESIDE, _READ = 2, 5  # passages that are read with the findings, where none is missing and where some are
_COMPARED = 100  # first passages that are looked at for duplicates
_GAP_TOKENS, _GAPS, _GAP_LENGTH = 300, 2, 300
_GAP_QUESTIONS = {"type": "array", "maxItems": _GAPS, "items": {"type": "string", "maxLength": _GAP_LENGTH}}
_GAP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"questions": _GAP_QUESTIONS},
    "required": ["questions"],
    "additionalProperties": False,
}
_LATEST = re.compile(r"\b(?:latest|last|most recent(?:ly)?|newest)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SubProblem:
    """Ask one question of the network. parents: ids of those whose answers it needs, as `#k` in it."""

    id: int
    question: str
    approach: Approach = "deep chain"
    parents: tuple[int, ...] = ()


@dataclass
class Finding:
    """Hold what became of a sub-problem. gain: expected of it. sources: lines that the answer is based on."""

    problem: SubProblem
    passages: list[RankedPassage]
    gain: float = 1.0
    answer: str | None = None
    sources: tuple[Item, ...] = ()


def run(context: Context, query: Query, recipe: PathwiseRecipe) -> Retrieved:
    """Read the intent, choose approaches, follow the network by paths, and integrate what they find.

    A language model, where one is set, reads intent and plan in one call and follows the paths; where it
    fails, the rules do that. Each step is in the trace.
    """
    paths = _Paths(Team(context), query, recipe)
    intent, plan = paths.understand()
    approach = paths.choose(intent)
    if query.plan is None and choose_approach(intent) == "dense precision":
        plan = None  # one fact answers it
    paths.team.agent("selection").note("selection", str(intent), approach)
    retrieved = paths.follow(paths.network(intent, approach, plan), approach, plan)
    why = None if context.llm else f"no language model is set: rules of English read the question, {approach}"
    return replace(
        retrieved, plan=plan, note="; ".join(dict.fromkeys(paths.notes)) or retrieved.note, ran=None, why=why
    )


@dataclass
class _Paths:
    """Follow one question. notes: what could not be done on the way; searched: questions so far."""

    team: Team
    query: Query
    recipe: PathwiseRecipe
    notes: list[str] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Return passages of a path."""
        return max(self.recipe.documents, self.query.k)

    def understand(self) -> tuple[Intent, Plan | None]:
        """Read the intent and the plan: one that was given, or that of the model, from the same call."""
        question, plan, agent = self.query.question, self.query.plan, self.team.agent("intent")
        intent = read_intent(question)
        if self.team.context.llm is None:
            agent.note("intent", question, str(intent))
        else:
            try:
                intent, model_plan = ask_intent(agent, question, intent)
                plan = plan or (model_plan if len(model_plan.steps) > 1 else None)
            except ReplyError as error:
                self.notes.append(f"rules read the question: {error}")
        return (intent if self.recipe.intent else Intent()), plan

    def choose(self, intent: Intent) -> Approach:
        """Choose the approach for an intent."""
        return choose_approach(intent) if self.recipe.selection else "dense precision"

    def approach_of(self, question: str) -> Approach:
        """Choose the approach of a sub-problem."""
        return self.choose(read_intent(question) if self.recipe.intent else Intent())

    def network(self, intent: Intent, approach: Approach, plan: Plan | None) -> list[SubProblem]:
        """Make the network (equations 5 to 7): of the plan, else of the parts of the question, each with the
        approach of its own intent."""
        if plan is not None:
            steps = [(step.id, step.question, step.parents) for level in plan.levels() for step in level]
        else:
            parts = parts_of(self.query.question, intent, approach)
            steps = [(number, part, ()) for number, part in enumerate(parts, 1)]
        if len(steps) < 2 and self.query.plan is None:
            return [SubProblem(1, self.query.question, approach)]
        problems = [
            SubProblem(id_, text, self.approach_of(rewrite(text, lambda k: f"N{k}")), parents)
            for id_, text, parents in steps
        ]
        vectors = self.team.context.vectors([self.query.question, *(item.question for item in problems)])
        paths = order_paths(problems, self.query.question, vectors, self.recipe.paths)
        on_path = {problem.id for path in paths for problem in path}
        ends = "; ".join(str(path[-1].id) for path in paths)
        self.team.agent("network").note("paths", describe(problems), ends)
        return [problem for problem in problems if problem.id in on_path]

    def follow(self, problems: list[SubProblem], approach: Approach, plan: Plan | None) -> Retrieved:
        """Search for the sub-problems, those of a level side by side, and integrate what they find."""
        context, query, chained = self.team.context, replace(self.query, plan=plan), None
        if len(problems) == 1 and self.query.plan is None:
            retrieved = self._search("path 1", self.query, problems[0])
            return replace(retrieved, passages=without_duplicates(retrieved.passages, self.recipe.duplicate))
        if plan and context.has_pairs:
            chained = self._search("chains", query, SubProblem(0, query.question))
        if approach in ("comparative matrix", "multi-aspect"):  # its parts are paths of their own
            approach = "deep chain"
        whole = chained or self._search(
            "whole question", replace(self.query, k=self.documents), SubProblem(0, query.question, approach)
        )
        findings = self._find(problems, chained)
        if context.llm is not None and self.recipe.adjustment:
            findings += self._find_missing(findings, chained)
        retrieved = replace(whole, passages=self._integrate(whole, findings, chained is not None)[: query.k])
        if plan is None or chained is not None or context.llm is None or not query.answer:
            return retrieved
        return replace(retrieved, items=self._items(retrieved, findings))

    def _find(self, problems: list[SubProblem], chained: Retrieved | None) -> list[Finding]:
        """Search for sub-problems level by level; chains, or readings, put answers into the next questions.

        With chains those alone are searched for whose approach is another: chains are the others' search.
        """
        findings: list[Finding] = []
        answers = {hop.step: hop.answer for hop in _best_hops(chained)}
        questions, waiting = dict[int, str](), problems

        def put(id_: int) -> str:
            return answers.get(id_, f"({questions[id_].rstrip(' ?')})")[:_ANSWER]

        while waiting:
            ids = {problem.id for problem in waiting}
            level = [problem for problem in waiting if ids.isdisjoint(problem.parents)]
            concrete = [replace(problem, question=rewrite(problem.question, put)) for problem in level]
            questions |= {problem.id: problem.question for problem in concrete}
            own = [item for item in concrete if chained is None or item.approach != "deep chain"]
            new = self._search_level(own, read=chained is None)
            answers |= {finding.problem.id: finding.answer for finding in new if finding.answer}
            findings += new
            waiting = [problem for problem in waiting if problem not in level]
        return findings

    def _search_level(
        self, problems: Sequence[SubProblem], name: str = "path", *, read: bool
    ) -> list[Finding]:
        """Search for sub-problems side by side; one from which too little new is expected is left out before
        it is searched for (equations 9, 17 and 40). read: whether a model reads each."""
        gains = self._expected_gains(problems)
        worthwhile = [
            item for item in problems if gains[item.id] >= self.recipe.gain or not self.recipe.adjustment
        ]
        for problem in (problem for problem in problems if problem not in worthwhile):
            gain = f"gain {gains[problem.id]:.2f}"
            self.team.agent("adjustment").note("stopped", problem.question, gain)
        self.searched += [problem.question for problem in worthwhile]
        model = self.team.context.llm

        def find(problem: SubProblem) -> Finding:
            agent = self.team.agent(f"{name} {problem.id}")
            retrieved = self._search(
                agent.name, Query(problem.question, k=self.documents, answer=False), problem
            )
            finding = Finding(problem, retrieved.passages, gains[problem.id])
            return self._read(agent, finding) if read and model is not None else finding

        return self._side_by_side([partial(find, problem) for problem in worthwhile])

    def _expected_gains(self, problems: Sequence[SubProblem]) -> dict[int, float]:
        """Return for each sub-problem how far it is from the questions before it: 1 - the largest cosine."""
        texts = [*self.searched, *(problem.question for problem in problems)]
        vectors = self.team.context.vectors(texts)
        before = len(self.searched)
        return {
            problem.id: 1
            - max((float(vectors[problem.question] @ vectors[t]) for t in texts[: before + n]), default=0.0)
            for n, problem in enumerate(problems)
        }

    def _find_missing(self, findings: Sequence[Finding], chained: Retrieved | None) -> list[Finding]:
        """Add sub-problems for what was not found, as long as the model names some (equation 9). Beside
        chains they are read with the answer alone, so that there is one round."""
        answered: Asked = [(path.problem.question, path.answer) for path in findings]
        passage_ids = {passage.id for path in findings for passage in path.passages[: self.recipe.documents]}
        if chained is not None:
            draft = from_chains(self.query.question, chained, FUSION.confidence, answer=False)
            answered = [(hop.concrete, hop.answer) for hop in _best_hops(chained)] or answered
            passage_ids |= {passage.id for passage in chained.passages}
            missing = (draft.confidence or 0.0) < SURE
        else:
            missing = not all(answer for _, answer in answered)
        more, agent = list[Finding](), self.team.agent("adjustment")
        for _ in range(self.recipe.rounds if missing else 0):
            try:
                questions = ask_gaps(agent, self.query.question, answered)
            except ReplyError as error:
                self.notes.append(f"no gaps were looked for: {error}")
                break
            problems = [SubProblem(n, text, self.approach_of(text)) for n, text in enumerate(questions, 1)]
            new = self._search_level(problems, "new path", read=False)
            for finding in new:
                finding.passages = keep_new(
                    finding.passages, passage_ids, round(self.documents * finding.gain)
                )
            if chained is None:
                new = self._side_by_side([partial(self._read, agent, finding) for finding in new])
            more += new
            answers = {finding.problem.question: finding.answer for finding in new}
            answered += [(text, answers.get(text)) for text in questions]
            if chained is not None or not questions or (new and all(answers.values())):
                break
        return more

    def _integrate(self, whole: Retrieved, findings: Sequence[Finding], chained: bool) -> list[RankedPassage]:
        """Fuse the rankings of the paths by their weights, near duplicates as one (equations 13 to 15)."""
        if not self.recipe.integration:
            passages = [passage for finding in findings for passage in finding.passages] or whole.passages
            return list({passage.id: passage for passage in passages}.values())
        lists = [(1.0 if chained else self.recipe.whole, whole.passages)]
        passage_ids: set[str] = set()
        for path in findings:
            best = path.passages[: self.documents]
            gain = len(keep_new(best, passage_ids, self.documents)) / max(len(best), 1)
            lower = self.recipe.whole if self.team.model and not path.answer else 1.0
            weight = (_CHAINED if chained else lower) * ((1 + gain) / 2 if self.recipe.adjustment else 1)
            lists += [(weight, best), (CITED_WEIGHT, [item.passage for item in path.sources])]
        fused = reciprocal_rank_fusion(
            [ranking for _, ranking in lists], [w for w, _ in lists], k=self.recipe.rank
        )
        return without_duplicates(fused, self.recipe.duplicate)

    def _items(self, retrieved: Retrieved, findings: Sequence[Finding]) -> list[Item]:
        """Return what the model answers from: the findings in the order of the network, and passages."""
        lines = [
            Item(
                flat(f"{finding.problem.question} {finding.answer}"),
                finding.sources[0].passage,
                finding.problem.question,
                finding.answer,
            )
            for finding in findings
            if finding.answer and self.recipe.integration
        ]
        limit = _BESIDE if len(lines) == len(findings) else _READ
        return [
            *lines,
            *texts(retrieved.passages, max(BUDGET - sum(estimate(line.text) for line in lines), 0), limit),
        ]

    def _read(self, agent: Agent, finding: Finding) -> Finding:
        question = finding.problem.question
        lines = list(texts(finding.passages, most=self.recipe.documents))
        agent_model = AgentModel(
            agent, self.team.model, question, lambda reply: reply.answer or reply.missing or "nothing"
        )
        try:
            read = read_answer(question, lines, agent_model, final=False)
        except ReplyError as error:
            self.notes.append(f"a sub-question was not read: {error}")
            return finding
        return replace(finding, answer=read.answer, sources=read.sources)

    def _search(self, name: str, query: Query, problem: SubProblem) -> Retrieved:
        """Search for a sub-problem by its approach, as a step of the trace."""
        approach = problem.approach
        return self.team.agent(name).search(
            approach,
            query.question,
            lambda part: search(part, query, approach, self.recipe),
            (),
            lambda retrieved: retrieved.passages,
        )

    def _side_by_side(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        return [result for result in side_by_side(self.team, tasks) if not isinstance(result, ReplyError)]


def _best_hops(chained: Retrieved | None) -> list[Link]:
    """Return the hops of the best chain."""
    best = next(iter(chained.beams.ends()), None) if chained and chained.beams else None
    return best.hops if best else []


def order_paths(
    problems: Sequence[SubProblem], question: str, vectors: Mapping[str, NDArray[np.float32]], limit: int
) -> list[list[SubProblem]]:
    """Find the paths to the ends of a network, those of the largest priority omega first (equation 8).

    Args:
        problems: each after those that it needs.
        question: the whole.
        vectors: of the question and the sub-problems, of length 1.
        limit: of paths.

    Returns:
        Each path as its sub-problems, the end last.
    """
    by_id = {problem.id: problem for problem in problems}
    needed = {parent for problem in problems for parent in problem.parents}
    above: dict[int, set[int]] = {}
    for problem in problems:
        above[problem.id] = {*problem.parents, *(up for parent in problem.parents for up in above[parent])}
    paths = {
        id_: [*(other for other in by_id if other in above[id_]), id_] for id_ in by_id if id_ not in needed
    }
    used: set[int] = set()
    ordered: list[list[SubProblem]] = []

    def omega(id_: int) -> float:
        vector = vectors[by_id[id_].question]
        relevance = max(0.0, float(vector @ vectors[question]))
        difficulty = min(1 + len(above[id_]), DEEPEST) / DEEPEST
        similarity = max((float(vector @ vectors[by_id[other].question]) for other in used), default=0.0)
        gain = 0.0 if id_ in used else 1 - max(0.0, similarity)
        return (relevance + difficulty + gain) / 3

    while paths and len(ordered) < limit:
        best = max(paths, key=lambda end: (sum(map(omega, paths[end])) / len(paths[end]), -end))
        ordered.append([by_id[id_] for id_ in paths.pop(best)])
        used.update(problem.id for problem in ordered[-1])
    return ordered


def keep_new(passages: Sequence[RankedPassage], passage_ids: set[str], k: int) -> list[RankedPassage]:
    """Return the first `k` passages that are new, one at least, added to `passage_ids` (adaptive k)."""
    new = [passage for passage in passages if passage.id not in passage_ids][: max(k, 1)]
    passage_ids.update(passage.id for passage in new)
    return new


def without_duplicates(passages: Sequence[RankedPassage], share: float) -> list[RankedPassage]:
    """Drop of the first passages those that share so much of all their words (Jaccard) with one before
    them."""
    distinct: list[tuple[RankedPassage, frozenset[str]]] = []
    for passage in passages[:_COMPARED]:
        words = frozenset(re.findall(r"\w+", passage.text.casefold()))
        if not any(len(words & other) >= share * len(words | other) > 0 for _, other in distinct):
            distinct.append((passage, words))
    return [*(passage for passage, _ in distinct), *passages[_COMPARED:]]


def search(context: Context, query: Query, approach: Approach, recipe: PathwiseRecipe) -> Retrieved:
    """Search by an approach: the one that was chosen is the one that runs."""
    if approach == "dense precision":
        return _search_hybrid(context, query, recipe.hybrid)
    if approach == "temporal-ordered":
        return _search_dated(context, query)
    chain = FUSION if query.plan is not None or context.has_pairs else LINKED
    retrieved = chain(context, query)
    if approach == "deep chain":
        return retrieved
    parts = parts_of(query.question, read_intent(query.question), approach)
    rankings = [
        _search_hybrid(context, Query(part, k=query.k, answer=False), recipe.hybrid).passages
        for part in parts
    ]
    weights = [recipe.whole, *[1.0] * len(parts)]
    fused = reciprocal_rank_fusion([retrieved.passages, *rankings], weights, k=recipe.rank)
    return replace(retrieved, passages=fused[: query.k])


def _search_hybrid(context: Context, query: Query, weight: float) -> Retrieved:
    """Search by lambda * cosine + (1 - lambda) * BM25 as a share of the largest (equations 10 to 12); without
    a language model one pair that is sure answers."""
    retrieved = DENSE.with_recipe(SearchRecipe(rerank=0))(context, query)
    if weight < 1:
        sparse = BM25.with_recipe(SearchRecipe(rerank=0))(context, query).passages
        top = max((passage.score for passage in sparse), default=0.0) or 1.0
        scores: dict[str, float] = defaultdict(float)
        for share, passages, scale in ((weight, retrieved.passages, 1.0), (1 - weight, sparse, top)):
            for passage in passages:
                scores[passage.id] += share * passage.score / scale
        by_id = {passage.id: passage for passage in (*sparse, *retrieved.passages)}
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))[: query.k]
        retrieved = replace(retrieved, passages=[replace(by_id[id_], score=scores[id_]) for id_ in best])
    if query.answer and context.has_pairs and context.llm is None:
        from gsw_graph.ask.retrieve.qa_chains import with_one_pair

        return with_one_pair(context, query, retrieved, ONE_PAIR)
    return retrieved


def _search_dated(context: Context, query: Query) -> Retrieved:
    """Fuse the ranking of `linked` with its passages that are dated as the question asks, in the order of
    their dates; the latest first where it asks for that."""
    retrieved = LINKED(context, replace(query, k=max(query.k, _DATED), below=0))
    bounds = date_bounds(query.question)
    keys = [mention.key for mention in mentions(query.question)]
    embedding = context.vector(query.question).tolist()
    with context.clock("database"):
        days = context.reader.dated_passages(embedding, keys, bounds or ANY_DATE, near=_NEAR, common=_COMMON)
    fitting = [passage for passage in retrieved.passages if passage.id in days]
    if bounds is None:
        fitting.sort(key=lambda passage: days[passage.id], reverse=bool(_LATEST.search(query.question)))
    return replace(retrieved, passages=reciprocal_rank_fusion([retrieved.passages, fitting])[: query.k])


def ask_gaps(agent: Agent, question: str, answered: Asked) -> list[str]:
    """Ask the model what else to search for where sub-problems found no answer (equation 9: Phi adds nodes).

    The model sees questions and findings, and no text of a document but the few words of a finding.
    """
    lines = "\n".join(
        f"[{number}] {flat(text)} {flat(answer) if answer else '(nothing found)'}"
        for number, (text, answer) in enumerate(answered, 1)
    )
    user = f"Question: {flat(question)}\n{fence('evidence', lines)}"
    request = request_for("pathwise_gaps", user, _GAP_SCHEMA, limit=_GAP_TOKENS)
    words = " | ".join
    return agent.ask(
        request, lambda r: parse_gaps(r, question, answered), lines, lambda new: words(new) or "nothing"
    )


def parse_gaps(reply: object, question: str, answered: Asked) -> list[str]:
    """Read the questions of a reply that are new and share a word with the question or a finding.

    Raises:
        ValueError: the reply has no list of questions.
    """
    questions = reply.get("questions") if isinstance(reply, Mapping) else None
    if type(questions) is not list:
        raise ValueError('the reply has no list "questions"')
    earlier = {normalise(text) for text, _ in answered}
    about = word_stems(" ".join([question, *(answer or "" for _, answer in answered)]))
    new: list[str] = []
    for item in questions:
        text = flat(item)[:_GAP_LENGTH] if isinstance(item, str) else ""
        if (key := normalise(text)) and key not in earlier and not about.isdisjoint(word_stems(text)):
            earlier.add(key)
            new.append(text.replace("#", " "))
    return new[:_GAPS]


PATHWISE = Strategy(
    "pathwise",
    "PathwiseRAG: the intent of a question chooses how it is searched: one fact, a chain, aspects, the cells "
    "of a comparison or dates; paths side by side; without a language model by rules, mostly one search",
    run,
    PATHWISE_RECIPES["default"],
    PATHWISE_RECIPES,
    follows_plan=True,
    makes_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=FUSION.confidence,
)
