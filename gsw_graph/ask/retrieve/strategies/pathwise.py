"""Run the strategy `pathwise` (PathwiseRAG, algorithm 1): choose an approach by the intent of the question,
follow a network of sub-problems by paths, and integrate the findings. docs/pathwise.md.

Without a language model rules of English read the question: most questions are then one search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.chains import from_chains
from gsw_graph.ask.answer.evidence import BUDGET, EvidenceLine, passage_lines, single_line
from gsw_graph.ask.answer.reader import read_answer
from gsw_graph.ask.plan import rewrite, word_stems
from gsw_graph.ask.retrieve.agents import AgentModel, Team, describe_steps, request_for, side_by_side
from gsw_graph.ask.retrieve.intent import (
    ANY_DATE,
    DEEPEST,
    Approach,
    Intent,
    ask_intent,
    choose_approach,
    date_bounds,
    parts_of,
    read_intent,
)
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.retrieve.recipes import PATHWISE_RECIPES, PathwiseRecipe, SearchRecipe
from gsw_graph.ask.retrieve.strategies.baselines import DENSE
from gsw_graph.ask.retrieve.strategies.fusion import FUSION, with_one_pair
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy, reciprocal_rank_fusion
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import fence
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.chains.records import Link
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import RankedPassage

    Passages: TypeAlias = list[RankedPassage]
    Asked: TypeAlias = list[tuple[str, str | None]]
    """Sub-questions and their answers."""
    Vectors: TypeAlias = Mapping[str, NDArray[np.float32]]

_CHAINED = 0.2  # weight of a path beside chains, which have 1: it puts them in order and adds little
CITED_WEIGHT = 2.0  # of the passages that an answer is based on, where those of a path have 1
SURE = 0.5  # confidence from which chains hold the answer for four questions of five (docs/ricr.md)
ONE_PAIR = 0.8  # confidence from which one pair answers a simple question, as in `auto`
# Of the passages among which dated ones are looked for.
_NEAR = 100
_COMMON = 30
_DATED = 30
_ANSWER = 200  # characters of an answer that goes into the next question
# Passages that are read with the findings, if none is missing and if some are, and of a path.
_BESIDE = 2
_READ = 5
_COMPARED = 100  # first passages that are looked at for duplicates
_GAP_TOKENS = 300
_GAPS = 2
_GAP_LENGTH = 300
_GAP_QUESTIONS = {"type": "array", "maxItems": _GAPS, "items": {"type": "string", "maxLength": _GAP_LENGTH}}
_GAP_SCHEMA = {
    "type": "object",
    "properties": {"questions": _GAP_QUESTIONS},
    "required": ["questions"],
    "additionalProperties": False,
}
_LATEST = re.compile(r"(?i)\b(?:latest|last|most recent(?:ly)?|newest)\b")


@dataclass(frozen=True, slots=True)
class SubProblem:
    """Hold a question of the network. parents: Ids of the sub-problems whose answers it needs, as `#k` in its
    words. level: Level in the network, above that of its parents."""

    id: int
    question: str
    approach: Approach = "deep chain"
    parents: tuple[int, ...] = ()
    level: int = 0


@dataclass
class Finding:
    """Hold the result of a sub-problem. gain: Expected gain. sources: Lines that support the answer."""

    problem: SubProblem
    passages: Passages
    gain: float = 1.0
    answer: str | None = None
    sources: tuple[EvidenceLine, ...] = ()


def retrieve(context: RetrievalContext, query: Query, recipe: PathwiseRecipe) -> RetrievalResult:
    """Read the intent, choose approaches, follow the network by paths, and integrate the findings.

    The language model, if one is set, reads intent and plan in one call and follows the paths. If it fails,
    rules do this. Each step is in the trace.
    """
    paths = _Paths(context, query, recipe)
    intent, plan = paths.understand()
    approach = paths.choose(intent)
    if query.plan is None and choose_approach(intent) == "dense precision":
        plan = None  # one fact answers it
    paths.note("selection", "selection", str(intent), approach)
    retrieved = paths.follow(paths.network(intent, approach, plan), approach, plan)
    note = "; ".join(dict.fromkeys(paths.notes)) or retrieved.note
    why = None
    if context.llm is None:
        why = f"no language model is set: rules of English read the question, {approach}"
    return replace(retrieved, plan=plan, note=note, ran=None, why=why)


class _Paths:
    """Follow one question. notes: what could not be done on the way; searched: questions so far; documents:
    passages of a path; read: of them, those that are read."""

    def __init__(self, context: RetrievalContext, query: Query, recipe: PathwiseRecipe) -> None:
        self.context = context
        self.team = Team(context)
        self.query = query
        self.recipe = recipe
        self.read = recipe.documents or _READ
        self.documents = recipe.documents or max(_READ, query.k)
        self.notes: list[str] = []
        self.searched: list[str] = []

    def note(self, agent: str, stage: str, task: str, outcome: str) -> None:
        """Write a decision into the trace."""
        self.team.agent(agent).note(stage, task, outcome)

    def understand(self) -> tuple[Intent, Plan | None]:
        """Read the intent and the plan: one that was given, or that of the model, from the same call."""
        question = self.query.question
        plan = self.query.plan
        intent = read_intent(question)
        if self.context.llm is None:
            self.note("intent", "intent", question, str(intent))
        else:
            try:
                intent, made = ask_intent(self.team.agent("intent"), question, intent)
                if plan is None and len(made.steps) > 1:
                    plan = made
            except InvalidReplyError as error:
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
        question = self.query.question
        problems = []
        if plan is None:
            for number, part in enumerate(parts_of(question, intent, approach), 1):
                problems.append(SubProblem(number, part, self.approach_of(part)))
        else:
            for number, level in enumerate(plan.levels()):
                for step in level:
                    own = self.approach_of(rewrite(step.question, lambda k: f"N{k}"))
                    problems.append(SubProblem(step.id, step.question, own, step.parents, number))
        if len(problems) < 2 and self.query.plan is None:
            return [SubProblem(1, question, approach)]
        vectors = self.context.vectors([question, *(problem.question for problem in problems)])
        paths = order_paths(problems, question, vectors, self.recipe.paths)
        ends = "; ".join(str(path[-1].id) for path in paths)
        self.note("network", "paths", describe_steps(problems), ends)
        on_path = {problem.id for path in paths for problem in path}
        return [problem for problem in problems if problem.id in on_path]

    def follow(self, problems: list[SubProblem], approach: Approach, plan: Plan | None) -> RetrievalResult:
        """Search for the sub-problems, those of a level side by side, and integrate what they find."""
        query = self.query
        model = self.context.llm
        if len(problems) == 1 and query.plan is None:
            one_path = replace(query, k=self.recipe.documents or query.k)
            retrieved = self._search("path 1", one_path, problems[0].approach)
            passages = without_duplicates(retrieved.passages, self.recipe.duplicate)
            return replace(retrieved, passages=passages[: query.k])
        if approach in ("comparative matrix", "multi-aspect"):  # its parts are paths of their own
            approach = "deep chain"
        chained = None
        if not self.recipe.whole:
            whole = RetrievalResult([])
        elif plan and self.context.has_pairs:
            whole = chained = self._search("chains", replace(query, plan=plan), "deep chain")
        else:
            whole = self._search("whole question", replace(query, k=self.documents), approach)
        findings = self._find(problems, chained)
        if model is not None and self.recipe.adjustment:
            findings += self._find_missing(findings, chained)
        passages = self._integrate(whole, findings, chained is not None)[: query.k]
        items = None
        if chained is None and model is not None and query.answer:
            items = self._items(passages, findings)
        return replace(whole, passages=passages, items=items)

    def _find(self, problems: list[SubProblem], chained: RetrievalResult | None) -> list[Finding]:
        """Search for sub-problems level by level; chains, or readings, put answers into the next questions.

        With chains those alone are searched for whose approach is another: chains are the others' search.
        """
        findings: list[Finding] = []
        answers = {hop.step: hop.answer for hop in _best_hops(chained)}
        for _, group in groupby(problems, attrgetter("level")):
            level = []
            for problem in group:
                question = rewrite(problem.question, lambda id_: answers[id_][:_ANSWER])
                level.append(replace(problem, question=question))
            own = [problem for problem in level if chained is None or problem.approach != "deep chain"]
            found = self._search_level(own, "path", read=chained is None)
            findings += found
            answers.update({finding.problem.id: finding.answer for finding in found if finding.answer})
            for problem in level:
                answers.setdefault(problem.id, f"({problem.question.rstrip(' ?')})")
        return findings

    def _search_level(self, problems: Sequence[SubProblem], name: str, *, read: bool) -> list[Finding]:
        """Search for sub-problems side by side; one from which too little new is expected is left out before
        it is searched for (equations 9, 17 and 40). read: whether a model reads each."""
        before = list(self.searched)
        vectors = self.context.vectors([*before, *(problem.question for problem in problems)])
        tasks = []
        for problem in problems:
            question = problem.question
            gain = expected_gain(question, before, vectors)
            before.append(question)
            if self.recipe.adjustment and gain < self.recipe.gain:
                self.note("adjustment", "stopped", question, f"gain {gain:.2f}")
                continue
            self.searched.append(question)
            agent = f"{name} {problem.id}"
            tasks.append(partial(self._find_one, problem, agent, gain, read))
        return side_by_side(self.team, tasks)

    def _find_one(self, problem: SubProblem, name: str, gain: float, read: bool) -> Finding:
        query = Query(problem.question, k=self.documents, answer=False)
        passages = self._search(name, query, problem.approach).passages
        finding = Finding(problem, passages, gain)
        return self._read(name, finding) if read and self.context.llm is not None else finding

    def _find_missing(self, findings: Sequence[Finding], chained: RetrievalResult | None) -> list[Finding]:
        """Add sub-problems for what was not found, as long as the model names some (equation 9). Beside
        chains they are read with the answer alone, so that there is one round."""
        question = self.query.question
        answered: Asked = [(finding.problem.question, finding.answer) for finding in findings]
        known: set[str] = set()
        for finding in findings:
            known.update(passage.id for passage in finding.passages[: self.read])
        rounds = self.recipe.rounds
        if chained is not None:
            draft = from_chains(question, chained, FUSION.confidence, answer=False)
            if (draft.confidence or 0.0) >= SURE:
                return []
            answered = [(hop.concrete, hop.answer) for hop in _best_hops(chained)] or answered
            known.update(passage.id for passage in chained.passages)
            rounds = min(rounds, 1)
        elif all(answer for _, answer in answered):
            return []
        added: list[Finding] = []
        for _ in range(rounds):
            try:
                gaps = ask_gaps(self.team.agent("adjustment"), question, answered)
            except InvalidReplyError as error:
                self.notes.append(f"no gaps were looked for: {error}")
                break
            problems = [SubProblem(number, gap, self.approach_of(gap)) for number, gap in enumerate(gaps, 1)]
            new = self._search_level(problems, "new path", read=False)
            for finding in new:
                most = round(self.documents * finding.gain)
                finding.passages = keep_new(finding.passages, known, most)
            if chained is None:
                new = side_by_side(self.team, [partial(self._read, "adjustment", item) for item in new])
            added += new
            answers = {finding.problem.question: finding.answer for finding in new}
            answered += [(gap, answers.get(gap)) for gap in gaps]
            if not gaps or (new and all(answers.values())):
                break
        return added

    def _integrate(self, whole: RetrievalResult, findings: Sequence[Finding], chained: bool) -> Passages:
        """Fuse the rankings of the paths by their weights, near duplicates as one (equations 13 to 15)."""
        recipe = self.recipe
        if not recipe.integration:
            found = [passage for finding in findings for passage in finding.passages] or whole.passages
            return list({passage.id: passage for passage in found}.values())
        rankings = [whole.passages]
        weights = [1.0 if chained else recipe.whole]
        known: set[str] = set()
        for finding in findings:
            best = finding.passages[: self.documents]
            new = keep_new(best, known, self.documents)
            weight = _CHAINED if chained else 1.0
            if recipe.adjustment:
                weight *= (1 + len(new) / max(len(best), 1)) / 2
            rankings += [best, [item.passage for item in finding.sources]]
            weights += [weight, CITED_WEIGHT]
        return without_duplicates(reciprocal_rank_fusion(rankings, weights, recipe.rank), recipe.duplicate)

    def _items(self, passages: Passages, findings: Sequence[Finding]) -> list[EvidenceLine]:
        """Return what the model answers from: the findings in the order of the network, and passages."""
        items = []
        for finding in findings:
            if finding.answer and self.recipe.integration:
                question = finding.problem.question
                text = single_line(f"{question} {finding.answer}")
                items.append(EvidenceLine(text, finding.sources[0].passage, question, finding.answer))
        budget = BUDGET - sum(estimate(item.text) for item in items)
        most = _BESIDE if len(items) == len(findings) else _READ
        return [*items, *passage_lines(passages, budget, most)]

    def _read(self, name: str, finding: Finding) -> Finding:
        question = finding.problem.question
        lines = list(passage_lines(finding.passages, most=self.read))
        model = AgentModel(self.team.agent(name), question)
        try:
            read = read_answer(question, lines, model, final=False)
        except InvalidReplyError as error:
            self.notes.append(f"a sub-question was not read: {error}")
            return finding
        return replace(finding, answer=read.answer, sources=read.sources)

    def _search(self, name: str, query: Query, approach: Approach) -> RetrievalResult:
        """Search by an approach, as a step of the trace."""

        def run(part: RetrievalContext) -> RetrievalResult:
            return search(part, query, approach, self.recipe)

        agent = self.team.agent(name)
        return agent.search(approach, query.question, run, (), lambda retrieved: retrieved.passages)


def _best_hops(chained: RetrievalResult | None) -> list[Link]:
    """Return the hops of the best chain."""
    chains = chained.chain_search.ends() if chained and chained.chain_search else []
    return chains[0].hops if chains else []


def expected_gain(question: str, before: Iterable[str], vectors: Vectors) -> float:
    """Return the distance of a question from earlier questions: 1 - the largest cosine."""
    cosines = [float(vectors[question] @ vectors[text]) for text in before]
    return 1 - max(cosines, default=0.0)


def order_paths(
    problems: Sequence[SubProblem], question: str, vectors: Vectors, limit: int
) -> list[list[SubProblem]]:
    """Find the paths to the ends of a network, by descending priority omega (equation 8).

    Args:
        problems: Sub-problems, each after its parents.
        question: The whole question.
        vectors: Vectors of the question and the sub-problems, of length 1.
        limit: Largest number of paths.

    Returns:
        Each path as its sub-problems, the end last.
    """
    paths: dict[int, list[SubProblem]] = {}
    needed: set[int] = set()
    for problem in problems:
        above = {other.id for parent in problem.parents for other in paths[parent]}
        paths[problem.id] = [*(other for other in problems if other.id in above), problem]
        needed.update(problem.parents)
    ends = sorted(paths.keys() - needed)
    ordered: list[list[SubProblem]] = []
    used: list[str] = []

    def omega(problem: SubProblem) -> float:
        relevance = max(0.0, float(vectors[problem.question] @ vectors[question]))
        difficulty = min(len(paths[problem.id]), DEEPEST) / DEEPEST
        gain = min(1.0, expected_gain(problem.question, used, vectors))
        return (relevance + difficulty + gain) / 3

    def priority(end: int) -> float:
        return sum(map(omega, paths[end])) / len(paths[end])

    while ends and len(ordered) < limit:
        best = max(ends, key=priority)
        ends.remove(best)
        ordered.append(paths[best])
        used += [problem.question for problem in paths[best]]
    return ordered


def keep_new(passages: Passages, known: set[str], k: int) -> Passages:
    """Return the first `k` new passages, at least one, and add them to `known` (adaptive k)."""
    new = [passage for passage in passages if passage.id not in known][: max(k, 1)]
    known.update(passage.id for passage in new)
    return new


def without_duplicates(passages: Passages, share: float) -> Passages:
    """Remove from the first passages each that shares too many words (Jaccard) with an earlier passage."""
    distinct = []
    known: list[set[str]] = []
    for passage in passages[:_COMPARED]:
        words = set(re.findall(r"\w+", passage.text.casefold()))
        if not any(len(words & other) >= share * len(words | other) > 0 for other in known):
            distinct.append(passage)
            known.append(words)
    return [*distinct, *passages[_COMPARED:]]


def search(
    context: RetrievalContext, query: Query, approach: Approach, recipe: PathwiseRecipe
) -> RetrievalResult:
    """Search by the chosen approach."""
    if approach == "dense precision":
        return _search_hybrid(context, query, recipe.hybrid)
    if approach == "temporal-ordered":
        return _search_dated(context, query)
    chain = FUSION if query.plan is not None or context.has_pairs else LINKED
    retrieved = chain(context, query)
    if approach == "deep chain":
        return retrieved
    rankings = [retrieved.passages]
    weights = [recipe.whole]
    for part in parts_of(query.question, read_intent(query.question), approach):
        part_query = Query(part, k=query.k, answer=False)
        rankings.append(_search_hybrid(context, part_query, recipe.hybrid).passages)
        weights.append(1.0)
    fused = reciprocal_rank_fusion(rankings, weights, recipe.rank)
    return replace(retrieved, passages=fused[: query.k])


def _search_hybrid(context: RetrievalContext, query: Query, weight: float) -> RetrievalResult:
    """Search by lambda * cosine + (1 - lambda) * BM25 as a share of the largest (equations 10 to 12); without
    a language model one pair that is sure answers."""
    question = query.question
    if weight < 1:
        embedding = context.vector(question).tolist()
        with context.clock("database"):
            found = context.reader.hybrid(embedding, lucene_words(question), query.k, weight)
        retrieved = RetrievalResult(found, evidence="passages")
    else:
        retrieved = DENSE.with_recipe(SearchRecipe(rerank=0))(context, query)
    if query.answer and context.has_pairs and context.llm is None:
        return with_one_pair(context, query, retrieved, ONE_PAIR)
    return retrieved


def _search_dated(context: RetrievalContext, query: Query) -> RetrievalResult:
    """Fuse the ranking of `linked` with its passages that are dated as the question asks, in the order of
    their dates; the latest first if it asks for that."""
    question = query.question
    retrieved = LINKED(context, replace(query, k=max(query.k, _DATED), extra_k=0))
    bounds = date_bounds(question)
    keys = [mention.key for mention in mentions(question)]
    embedding = context.vector(question).tolist()
    with context.clock("database"):
        days = context.reader.dated_passages(embedding, keys, bounds or ANY_DATE, near=_NEAR, common=_COMMON)
    fitting = [passage for passage in retrieved.passages if passage.id in days]
    if bounds is None:
        fitting.sort(key=lambda passage: days[passage.id], reverse=bool(_LATEST.search(question)))
    fused = reciprocal_rank_fusion([retrieved.passages, fitting])
    return replace(retrieved, passages=fused[: query.k])


def ask_gaps(agent: Agent, question: str, answered: Asked) -> list[str]:
    """Ask the model for further searches if sub-problems have no answer (equation 9: Phi adds nodes).

    The model sees questions and findings, but no text of a document beyond the words of a finding.
    """
    lines = []
    for number, (text, answer) in enumerate(answered, 1):
        found = single_line(answer) if answer else "(nothing found)"
        lines.append(f"[{number}] {single_line(text)} {found}")
    evidence = "\n".join(lines)
    user = f"Question: {single_line(question)}\n{fence('evidence', evidence)}"
    request = request_for("pathwise_gaps", user, _GAP_SCHEMA, limit=_GAP_TOKENS)

    def check(reply: object) -> list[str]:
        return parse_gaps(reply, question, answered)

    return agent.ask(request, check, evidence, lambda gaps: " | ".join(gaps) or "nothing")


def parse_gaps(reply: object, question: str, answered: Asked) -> list[str]:
    """Read the questions of a reply that are new and share a word with the question or a finding.

    Raises:
        ValueError: the reply has no list of questions.
    """
    questions = reply.get("questions") if isinstance(reply, Mapping) else None
    if type(questions) is not list:
        raise ValueError('the reply has no list "questions"')
    earlier = {normalise(text) for text, _ in answered}
    answers = [answer or "" for _, answer in answered]
    about = word_stems(" ".join([question, *answers]))
    new = []
    for item in questions:
        text = single_line(item)[:_GAP_LENGTH] if isinstance(item, str) else ""
        key = normalise(text)
        if key and key not in earlier and not about.isdisjoint(word_stems(text)):
            earlier.add(key)
            new.append(text.replace("#", " "))
    return new[:_GAPS]


PATHWISE = Strategy(
    "pathwise",
    "PathwiseRAG: the intent of a question chooses how it is searched: one fact, a chain, aspects, the cells "
    "of a comparison or dates; paths side by side; without a language model by rules, mostly one search",
    retrieve,
    PATHWISE_RECIPES["default"],
    PATHWISE_RECIPES,
    follows_plan=True,
    makes_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=FUSION.confidence,
)
