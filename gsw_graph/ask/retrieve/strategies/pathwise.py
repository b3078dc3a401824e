"""The strategy `pathwise` (PathwiseRAG, algorithm 1): the intent of a question chooses how it is searched
for, a network of sub-problems is followed by paths, and what they find is fused. docs/pathwise.md.

Departures, as the paper publishes neither weights nor these formulas: a plan, given or of a language model,
is the network, else rules take the question apart; the priority of a path is the mean of relevance,
difficulty and gain; its gain is the share of its passages that no path before found. Where the memory has
pairs, chains follow the plan, and a model is asked for gaps alone, where the chains are not sure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.chains import from_chains
from gsw_graph.ask.answer.evidence import ROOM, Item, flat, texts
from gsw_graph.ask.answer.reader import cited, from_items, read_answer
from gsw_graph.ask.plan import Plan, rewrite
from gsw_graph.ask.retrieve.agents import Spoken, Team, side_by_side
from gsw_graph.ask.retrieve.intent import (
    DEEPEST,
    Approach,
    DateBounds,
    Intent,
    ask_intent,
    choose_approach,
    date_bounds,
    read_intent,
)
from gsw_graph.ask.retrieve.names.linking import mentions
from gsw_graph.ask.retrieve.recipes import PathwiseRecipe
from gsw_graph.ask.retrieve.strategies.baselines import DENSE
from gsw_graph.ask.retrieve.strategies.fusion import FUSION
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.retrieve.votes import reciprocal_rank_fusion
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved, Strategy
from gsw_graph.errors import ReplyError
from gsw_graph.model.results import Claim, Conflict
from gsw_graph.models.chat.request import Request, estimate
from gsw_graph.models.prompts import fence, prompt
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import normalise
from gsw_graph.text.words import FUNCTION_WORDS, WORD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.reader import PairOf

Asked = list[tuple[str, "str | None"]]  # sub-questions and their answers

CITED_WEIGHT = 2.0  # of the passages that an answer stands on, where those of a path have 1
SURE = 0.5  # confidence from which chains hold the answer for four questions of five (docs/ricr.md)
ONE_PAIR = 0.8  # confidence from which one pair answers a simple question, as in `auto`
_NEAR, _COMMON, _DATED = 100, 30, 30  # of the passages among which dated ones are looked for
_ANSWER = 200  # characters of an answer that goes into the next question
_BESIDE, _READ = 2, 5  # passages that are read with the findings, where none is missing and where some are
_UNREAD = "(passages were found, and are read with the answer)"  # where chains are followed
_GAP_TOKENS, _GAPS, _GAP_LENGTH, _STEM = 300, 2, 300, 5
_GAP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "maxItems": _GAPS,
            "items": {"type": "string", "maxLength": _GAP_LENGTH},
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}
_CLAUSES = re.compile(r",?\s+(?:and|or)\s+(?=(?:who|what|when|where|which|how|why)\b)|[;?]\s+", re.IGNORECASE)
_ASKS = frozenset("who whom whose what which when where why how many much".split())


@dataclass(frozen=True, slots=True)
class SubProblem:
    """Ask one question of the network. parents: ids of those whose answers it needs, as `#k` in it."""

    id: int
    question: str
    approach: Approach = "deep chain"
    parents: tuple[int, ...] = ()


@dataclass
class Finding:
    """Hold what became of a sub-problem. sources: the lines of evidence that the answer stands on."""

    id: int
    question: str
    passages: list[RankedPassage]
    answer: str | None = None
    sources: tuple[Item, ...] = ()


def run(context: Context, query: Query, recipe: PathwiseRecipe) -> Retrieved:
    """Read the intent, choose an approach, follow the network by paths, and fuse what they find.

    A language model, where one is set, reads the intent, makes the plan and follows the paths; where it fails
    at one of these, the rules do that. Each step is in the trace.
    """
    team, notes = Team(context), list[str]()
    intent = _intent(team, query, notes)
    approach = choose_approach(intent)
    team.agent("selection").note("selection", str(intent), approach)
    plan = query.plan or (
        _plan(team, query, notes) if context.llm and approach != "dense precision" else None
    )
    judged = intent.sides is not None or (plan is not None and not plan.steps[-1].retrieve)
    paths = _Paths(team, query, recipe, judged, notes)
    found = (
        paths.follow_plan(plan)
        if plan
        else paths.follow(_problems(query.question, intent, approach), approach)
    )
    passages = without_duplicates(found.passages, recipe.duplicate)
    return replace(
        found,
        passages=passages,
        conflicts=_find_conflicts(team, passages),
        plan=None if query.plan else plan,
        note="; ".join(dict.fromkeys(notes)) or found.note,
        ran=None,
    )


def _intent(team: Team, query: Query, notes: list[str]) -> Intent:
    agent, intent = team.agent("intent"), read_intent(query.question)
    if team.context.llm is not None:
        try:
            return ask_intent(agent, query.question, intent)
        except ReplyError as error:
            notes.append(f"rules read the intent: {error}")
    agent.note("intent", query.question, str(intent))
    return intent


def _plan(team: Team, query: Query, notes: list[str]) -> Plan | None:
    """Ask the language model for a plan; without one the rules make the network."""
    from gsw_graph.ask.plan import decompose

    def words(plan: Plan) -> str:
        return " ".join(f"({step.id}) {step.question}" for step in plan.steps)

    try:
        return decompose(query.question, Spoken(team.agent("network"), team.model, query.question, words))
    except ReplyError as error:
        notes.append(f"rules made the network: {error}")
    return None


def _problems(question: str, intent: Intent, approach: Approach) -> list[SubProblem]:
    """Take a question apart by rules (equations 5 to 7); one problem where there is nothing to take apart."""
    parts = [question]
    if intent.sides is not None:
        parts = list(intent.sides.questions)
    elif approach == "multi-aspect":
        parts = _aspects(question, intent)
    if len(parts) < 2 and approach != "temporal-ordered":
        return [SubProblem(1, question, approach)]
    return [SubProblem(number, part) for number, part in enumerate(parts, 1)]


def _aspects(question: str, intent: Intent) -> list[str]:
    """Split the clauses of a question, each with the first name where it has none; else take its names."""
    clauses = [clause.strip(" ?") for clause in _CLAUSES.split(question) if clause.strip(" ?")]
    if len(clauses) < 2:
        return list(intent.entities)
    about = intent.entities[0] if intent.entities else ""
    named = [c if any(name in c for name in intent.entities) else f"{c} {about}" for c in clauses]
    return [f"{clause.strip()}?" for clause in named]


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
    taken: set[int] = set()
    chosen: list[list[SubProblem]] = []

    def omega(id_: int) -> float:
        vector = vectors[by_id[id_].question]
        relevance = max(0.0, float(vector @ vectors[question]))
        difficulty = min(1 + len(above[id_]), DEEPEST) / DEEPEST
        known = max((float(vector @ vectors[by_id[other].question]) for other in taken), default=0.0)
        gain = 0.0 if id_ in taken else 1 - max(0.0, known)
        return (relevance + difficulty + gain) / 3

    while paths and len(chosen) < limit:
        best = max(paths, key=lambda end: (sum(map(omega, paths[end])) / len(paths[end]), -end))
        chosen.append([by_id[id_] for id_ in paths.pop(best)])
        taken.update(problem.id for problem in chosen[-1])
    return chosen


def keep_new(
    rankings: Sequence[Sequence[RankedPassage]], known: set[str], documents: int, least_gain: float
) -> list[list[RankedPassage]]:
    """Cut each path's passages by its gain (equations 9, 17 and 40).

    Args:
        rankings: of the paths, in order.
        known: ids that were found before; extended.
        documents: kept of a path of which all is new.
        least_gain: share of new passages below which a path stops; the first never does.
    """
    kept = []
    for passages in rankings:
        new = [passage.id for passage in passages[:documents] if passage.id not in known]
        gain = len(new) / min(len(passages), documents) if passages else 0.0
        size = 0 if gain < least_gain and known else max(1, round(gain * documents))
        kept.append(list(passages[:size]))
        known.update(passage.id for passage in kept[-1])
    return kept


def without_duplicates(passages: Sequence[RankedPassage], share: float) -> list[RankedPassage]:
    """Drop passages that share so much of all their words (Jaccard) with one before them."""
    kept: list[tuple[frozenset[str], RankedPassage]] = []
    for passage in passages:
        words = frozenset(re.findall(r"\w+", passage.text.casefold()))
        if not any(len(words & other) >= share * len(words | other) > 0 for other, _ in kept):
            kept.append((words, passage))
    return [passage for _, passage in kept]


@dataclass
class _Paths:
    """Follow one question. judged: its answer may compare. notes: what could not be done on the way."""

    team: Team
    query: Query
    recipe: PathwiseRecipe
    judged: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Passages of a path."""
        return max(self.recipe.documents, self.query.k)

    def follow(self, problems: list[SubProblem], approach: Approach) -> Retrieved:
        """Search for each sub-problem and for the whole question, and fuse the rankings."""
        whole = SubProblem(0, self.query.question, approach)
        if problems == [replace(whole, id=1)]:
            return self._search("path 1", self.query, whole)
        paths = self._paths(problems)
        rankings = [self._passages(f"path {number}", path[-1]) for number, path in enumerate(paths, 1)]
        brought = keep_new(rankings, set(), self.documents, self.recipe.gain)
        found = self._search("whole question", replace(self.query, k=self.documents), whole)
        lists = [(self.recipe.whole, found.passages), *((1.0, passages) for passages in brought)]
        return replace(found, passages=self._fused(lists))

    def follow_plan(self, plan: Plan) -> Retrieved:
        """Follow a plan: chains take all its paths at once; without pairs a model reads each sub-problem."""
        query, context = replace(self.query, plan=plan), self.team.context
        problems = [
            SubProblem(s.id, s.question, "deep chain", s.parents) for level in plan.levels() for s in level
        ]
        if context.llm is None:
            return self._search("path 1", query, problems[-1])
        if context.has_pairs:
            return self._fill_gaps(self._search("path 1", query, problems[-1]), problems)
        if len(problems) == 1:
            return self._search("path 1", self.query, problems[0])
        findings = self._find(problems)
        findings += self._find_missing(findings)
        whole = self._search("whole question", Query(self.query.question, k=self.documents), problems[0])
        lists = [(self.recipe.whole, whole.passages)]
        lists += [(1.0 if found.answer else self.recipe.whole, found.passages) for found in findings]
        lists += [(CITED_WEIGHT, [item.passage for item in found.sources]) for found in findings]
        result = replace(whole, passages=self._fused(lists))
        return replace(result, draft=self._answer(plan, result, findings)) if self.query.answer else result

    def _fill_gaps(self, found: Retrieved, problems: list[SubProblem]) -> Retrieved:
        """Where chains are not sure, search for what the model asks besides."""
        draft = from_chains(self.query.question, found, FUSION.confidence, answer=False)
        if (draft.confidence or 0.0) >= SURE:
            return found
        best = next(iter(found.beams.ends()), None) if found.beams else None
        asked: Asked = [(hop.concrete, hop.answer) for hop in best.hops] if best else []
        asked = asked or [(problem.question, None) for problem in problems]
        lists = [(1.0, found.passages)]
        known = {passage.id for passage in found.passages}
        for questions in self._rounds(asked):
            for problem, passages in self._search_new(questions, known):
                lists.append((self.recipe.whole, passages))
                asked.append((problem.question, _UNREAD if passages else None))
        return replace(found, passages=self._fused(lists)) if len(lists) > 1 else found

    def _find(self, problems: list[SubProblem]) -> list[Finding]:
        """Read the sub-problems of all paths, those of a level at the same time."""
        owner: dict[int, str] = {}
        for number, path in enumerate(self._paths(problems), 1):
            for problem in path:
                owner.setdefault(problem.id, f"path {number}")
        waiting = [problem for problem in problems if problem.id in owner]
        found: dict[int, Finding] = {}

        def known(id_: int) -> str:
            return (found[id_].answer or f"({found[id_].question.rstrip(' ?')})")[:_ANSWER]

        while waiting:
            ready = [problem for problem in waiting if found.keys() >= set(problem.parents)]
            concrete = [replace(problem, question=rewrite(problem.question, known)) for problem in ready]
            tasks = [partial(self._search_and_read, self.team.agent(owner[one.id]), one) for one in concrete]
            found.update({finding.id: finding for finding in self._side_by_side(tasks)})
            waiting = [problem for problem in waiting if problem.id not in found]
        return list(found.values())

    def _find_missing(self, findings: Sequence[Finding]) -> list[Finding]:
        """Ask for what is missing, where some sub-problems were not answered."""
        more: list[Finding] = []
        known = {passage.id for found in findings for passage in found.passages[: self.recipe.documents]}
        asked: Asked = [(found.question, found.answer) for found in findings]
        if all(answer for _, answer in asked):
            return more
        for questions in self._rounds(asked):
            brought = self._search_new(questions, known)
            asked += [(problem.question, None) for problem, passages in brought if not passages]
            tasks = [
                partial(self._read, self.team.agent(f"new path: {problem.question}"), problem, passages)
                for problem, passages in brought
                if passages
            ]
            new = self._side_by_side(tasks)
            asked += [(found.question, found.answer) for found in new]
            more += new
            if new and all(found.answer for found in new):
                break
        return more

    def _rounds(self, asked: Asked) -> Iterator[list[str]]:
        """Ask for new questions, round by round, as long as the model has some; `asked` grows meanwhile."""
        agent = self.team.agent("adjustment")
        for _ in range(self.recipe.rounds):
            try:
                questions = ask_gaps(agent, self.query.question, asked)
            except ReplyError as error:
                self.notes.append(f"no gaps were looked for: {error}")
                return
            if not questions:
                return
            yield questions

    def _search_new(
        self, questions: Sequence[str], known: set[str]
    ) -> list[tuple[SubProblem, list[RankedPassage]]]:
        """Search for new sub-problems; a path whose gain is too small brings nothing."""
        problems = [SubProblem(0, question) for question in questions]
        rankings = [self._passages(f"new path: {problem.question}", problem) for problem in problems]
        return list(zip(problems, keep_new(rankings, known, self.documents, self.recipe.gain), strict=True))

    def _search_and_read(self, agent: Agent, problem: SubProblem) -> Finding:
        return self._read(agent, problem, self._passages(agent.name, problem))

    def _read(self, agent: Agent, problem: SubProblem, passages: list[RankedPassage]) -> Finding:
        lines = list(texts(passages, most=self.recipe.documents))
        finding = Finding(problem.id, problem.question, passages)
        try:
            read = read_answer(problem.question, lines, self._spoken(agent, problem.question), final=False)
        except ReplyError as error:
            self.notes.append(f"a sub-question was not read: {error}")
            return finding
        return replace(finding, answer=read.answer, sources=read.sources)

    def _answer(self, plan: Plan, found: Retrieved, findings: Sequence[Finding]) -> AnswerDraft:
        """Answer by findings and passages; where the model gives none, by the finding of the only end."""
        lines = [
            Item(flat(f"{one.question} {one.answer}"), one.sources[0].passage, one.question, one.answer)
            for one in findings
            if one.answer
        ]
        limit = _READ if len(lines) < len(findings) else _BESIDE
        lines += texts(found.passages, max(ROOM - sum(estimate(line.text) for line in lines), 0), limit)
        spoken = self._spoken(self.team.agent("answer"), "the findings and passages")
        on_text = self.team.context.on_text
        try:
            return from_items(self.query.question, lines, spoken, judged=self.judged, on_text=on_text)
        except ReplyError as error:
            self.notes.append(f"no answer was put together: {error}")
        ends = {step.id for step in plan.sinks}
        last = next(one for one in findings if one.id in ends)
        if self.judged or len(ends) > 1 or last.answer is None:
            return AnswerDraft(abstained=True, missing="no answer was put together")
        citations = [cited(item, last.question, last.answer) for item in last.sources]
        return AnswerDraft(last.answer, "llm", citations=citations)

    def _paths(self, problems: Sequence[SubProblem]) -> list[list[SubProblem]]:
        vectors = self.team.context.vectors([self.query.question, *(one.question for one in problems)])
        paths = order_paths(problems, self.query.question, vectors, self.recipe.paths)
        network = " | ".join(f"{problem.id}: {problem.question}" for problem in problems)
        self.team.agent("network").note("paths", network, "; ".join(str(path[-1].id) for path in paths))
        return paths

    def _fused(self, lists: Sequence[tuple[float, Sequence[RankedPassage]]]) -> list[RankedPassage]:
        weights, rankings = [weight for weight, _ in lists], [ranking for _, ranking in lists]
        fused = reciprocal_rank_fusion(rankings, weights, k=self.recipe.rank)
        return without_duplicates(fused, self.recipe.duplicate)[: self.query.k]

    def _passages(self, name: str, problem: SubProblem) -> list[RankedPassage]:
        return self._search(name, Query(problem.question, k=self.documents), problem).passages

    def _search(self, name: str, query: Query, problem: SubProblem) -> Retrieved:
        """Search for a sub-problem, as a step of the trace."""
        approach = problem.approach

        def passages(found: Retrieved) -> list[RankedPassage]:
            return found.passages

        def run_approach(context: Context) -> Retrieved:
            return search(context, query, approach)

        return self.team.agent(name).search(approach, query.question, run_approach, (), passages)

    def _spoken(self, agent: Agent, asked: str) -> Spoken:
        return Spoken(agent, self.team.model, asked, lambda reply: reply.answer or reply.missing or "nothing")

    def _side_by_side(self, tasks: Sequence[Callable[[], Finding]]) -> list[Finding]:
        results = side_by_side(self.team, tasks)
        if failed := next((result for result in results if isinstance(result, ReplyError)), None):
            raise failed
        return [result for result in results if isinstance(result, Finding)]


def search(context: Context, query: Query, approach: Approach) -> Retrieved:
    """Search by an approach.

    Dense precision is `dense`, or one pair where that is sure; a chain is `fusion` where the memory has pairs
    or there is a plan, else `linked`; a comparison as a whole is `linked`, its sides are paths of their own.
    """
    if approach == "dense precision":
        found = DENSE(context, query)
        if query.answer and context.has_pairs and context.llm is None:
            from gsw_graph.ask.retrieve.qa_chains import with_one_pair

            return with_one_pair(context, query, found, ONE_PAIR)
        return found
    if query.plan is None and approach == "comparative matrix":
        return LINKED(context, query)
    bounds = date_bounds(query.question) if approach == "temporal-ordered" and query.plan is None else None
    if bounds is not None:
        return _search_dated(context, query, bounds)
    return FUSION(context, query) if query.plan is not None or context.has_pairs else LINKED(context, query)


def _search_dated(context: Context, query: Query, bounds: DateBounds) -> Retrieved:
    """Fuse the ranking of `linked` with that of its passages that are dated as the question asks."""
    found = LINKED(context, replace(query, k=max(query.k, _DATED), below=0))
    keys = [mention.key for mention in mentions(query.question)]
    with context.clock("database"):
        vector = context.vector(query.question).tolist()
        fitting = context.reader.dated_passages(vector, keys, asdict(bounds), near=_NEAR, common=_COMMON)
    rankings = [found.passages, [passage for passage in found.passages if passage.id in fitting]]
    return replace(found, passages=reciprocal_rank_fusion(rankings)[: query.k])


def ask_gaps(agent: Agent, question: str, asked: Asked) -> list[str]:
    """Ask the model what else to search for where sub-problems found no answer (equation 9: Phi adds nodes).

    The model sees questions and findings, and no text of a document but the few words of a finding.
    """
    lines = "\n".join(
        f"[{number}] {flat(text)} {flat(answer) if answer else '(nothing found)'}"
        for number, (text, answer) in enumerate(asked, 1)
    )
    messages = (
        {"role": "system", "content": prompt("pathwise_gaps")},
        {"role": "user", "content": f"Question: {flat(question)}\n{fence('evidence', lines)}"},
    )
    request = Request("pathwise_gaps", messages, _GAP_SCHEMA, limit=_GAP_TOKENS)
    words = " | ".join
    return agent.ask(
        request, lambda r: parse_gaps(r, question, asked), lines, lambda new: words(new) or "nothing"
    )


def parse_gaps(reply: object, question: str, asked: Asked) -> list[str]:
    """Read the questions of a reply that are new and share a word with the question or a finding.

    Raises:
        ValueError: the reply has no list of questions.
    """
    questions = reply.get("questions") if isinstance(reply, Mapping) else None
    if type(questions) is not list:
        raise ValueError('the reply has no list "questions"')
    known = {normalise(text) for text, _ in asked}
    about = _word_stems(" ".join([question, *(answer or "" for _, answer in asked)]))
    new: list[str] = []
    for item in questions:
        text = flat(item)[:_GAP_LENGTH] if isinstance(item, str) else ""
        if (key := normalise(text)) and key not in known and not about.isdisjoint(_word_stems(text)):
            known.add(key)
            new.append(text.replace("#", " "))
    return new[:_GAPS]


def _word_stems(text: str) -> set[str]:
    words = {normalise(word) for word in WORD.findall(text)}
    return {word[:_STEM] for word in words if word and word not in FUNCTION_WORDS}


def _find_conflicts(team: Team, passages: list[RankedPassage]) -> list[Conflict]:
    """Find what the pairs of the passages say against each other (equation 16)."""
    if not team.context.has_pairs or not passages:
        return []
    titles = {passage.id: passage.title for passage in passages}

    def run_query(context: Context) -> list[Conflict]:
        with context.clock("database"):
            return conflicts(context.reader.claims(list(titles)), titles)

    def words(found: list[Conflict]) -> str:
        said = (f"{one.question} {' / '.join(claim.answer for claim in one.claims)}" for one in found)
        return "; ".join(said) or "nothing"

    agent = team.agent("integration")
    asked = "what passages say against each other"
    return agent.search("contradictions", asked, run_query, ["read/claims"], lambda _: [], words)


def conflicts(pairs: Sequence[PairOf], titles: dict[str, str]) -> list[Conflict]:
    """Find pairs that answer the same question about the same concept differently, in different passages.

    confidence(c) = sum_j w_j [d_j supports c] / sum over all claims (PathwiseRAG, equation 16) with w_j = 1
    for each passage, as the graph knows nothing of the credibility of a source.
    """
    same: dict[tuple[str, frozenset[str]], list[PairOf]] = defaultdict(list)
    for pair in pairs:
        if pair.passage in titles:
            for concept in pair.about:
                same[concept, _question_key(pair.question)].append(pair)
    found: dict[frozenset[str], Conflict] = {}
    for group in same.values():
        claims = _claims(group, titles)
        if len(claims) > 1 and len({passage for claim in claims for passage in claim.passages}) > 1:
            found.setdefault(frozenset(claim.answer for claim in claims), Conflict(group[0].question, claims))
    return list(found.values())


def _claims(pairs: Sequence[PairOf], titles: dict[str, str]) -> list[Claim]:
    """Group answers: those of one passage are one claim, and so are those that agree."""
    groups: list[tuple[list[str], list[str]]] = []  # answers, passages
    for pair in pairs:
        group = next((g for g in groups if pair.passage in g[1] or _agree(g[0], pair.answers)), None)
        if group is None:
            groups.append((list(pair.answers), [pair.passage]))
        else:
            group[0].extend(answer for answer in pair.answers if answer not in group[0])
            group[1].extend([pair.passage] if pair.passage not in group[1] else [])
    total = sum(len(passages) for _, passages in groups)
    claims = [
        Claim(", ".join(answers), passages, [titles[id_] for id_ in passages], len(passages) / total)
        for answers, passages in groups
    ]
    return sorted(claims, key=lambda claim: -claim.confidence)


def _agree(first: Sequence[str], second: Sequence[str]) -> bool:
    """Say whether an answer of one is an answer of the other, or a part of it: "1902" and "3 May 1902"."""
    return any(_is_part(a, b) or _is_part(b, a) for a in first for b in second)


def _is_part(small: str, large: str) -> bool:
    if f" {normalise(small)} " in f" {normalise(large)} ":
        return True
    days = [[date.days for date in find_dates(text) if date.days] for text in (small, large)]
    return bool(days[0] and days[1]) and all(
        any(a[0] <= b[1] and b[0] <= a[1] for b in days[1]) for a in days[0]
    )


def _question_key(question: str) -> frozenset[str]:
    """Reduce a question to the words that matter, the question word among them."""
    words = [normalise(word) for word in re.findall(r"\w+", question)]
    return frozenset(word for word in words if word not in FUNCTION_WORDS or word in _ASKS)


PATHWISE = Strategy(
    "pathwise",
    "the intent of a question chooses how it is searched: one fact, a chain, the sides of a comparison or "
    "dates; paths that a language model, where one is set, follows side by side",
    run,
    PathwiseRecipe(),
    follows_plan=True,
    makes_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=FUSION.confidence,
)
